"""A reversal is never a repetition: rules that differ in one word of order, polarity, state or quantity."""

from __future__ import annotations

import pytest

from conftest import Opener
from recollect import NewLearning

REVERSED = [
    ("Merge the branch before review", "Merge the branch after review"),
    ("Turn the debug log on in staging", "Turn the debug log off in staging"),
    ("Retry the upload once", "Retry the upload twice"),
    ("Scale the workers up at night", "Scale the workers down at night"),
    ("Show the newest entry first", "Show the newest entry last"),
    ("Log in as root for maintenance", "Log out as root for maintenance"),
    ("Build the image with cache", "Build the image without cache"),
    ("Log more detail in production", "Log less detail in production"),
    ("Set the minimum pool size", "Set the maximum pool size"),
    ("Increase the pool size under load", "Decrease the pool size under load"),
    ("Enable compression on the proxy", "Disable compression on the proxy"),
    ("Retry on any network error", "Retry on all network errors"),
    ("Let all reviewers approve", "Let none of the reviewers approve"),
    ("Keep the cache until deployment", "Keep the cache after deployment"),
    ("Freeze the schema until release", "Freeze the schema since release"),
    ("Deploy on weekdays", "Deploy only on weekdays"),
    ("Wait 30 seconds for the lock", "Wait 60 seconds for the lock"),
    ("Repeat the download", "Repeat the download twice"),
    ("Commit generated files", "Never commit generated files"),
    ("Pin at most three versions", "Pin at least three versions"),
    ("Sort the rows ascending", "Sort the rows descending"),
    ("Grant the role to interns", "Revoke the role to interns"),
    ("Add the header to responses", "Remove the header to responses"),
    ("Encrypt the dump on transfer", "Decrypt the dump on transfer"),
    ("Squash the branch before merge", "Squash the branch after merge"),
    ("Run the linter during the build", "Run the linter before the build"),
    ("Alert above the threshold", "Alert below the threshold"),
    ("Fail the job on the first error", "Fail the job on the last error"),
    ("Open the port for clients", "Close the port for clients"),
    ("Start the worker on upgrade", "Stop the worker on upgrade"),
    ("Allow pushes to main", "Deny pushes to main"),
    ("Include the fixtures in the wheel", "Exclude the fixtures in the wheel"),
    ("Lock the table for imports", "Unlock the table for imports"),
    ("Raise the timeout in CI", "Lower the timeout in CI"),
    ("Prefer tabs over spaces", "Prefer spaces over tabs"),
    ("Always ask a second reader", "Sometimes ask a second reader"),
    ("Check both replicas for lag", "Check either replica for lag"),
    ("Publish the notes after two days", "Publish the notes after four days"),
    ("Keep old backups offsite", "Delete old backups offsite"),
    ("Mark the field required in forms", "Mark the field optional in forms"),
]
REASON = "Two releases went wrong otherwise, and support had to answer for it."
FIELDS = {
    "context": "Working on the release",
    "observation": "Two releases went wrong otherwise, and support had to answer",
    "implication": "The order of work matters for support",
    "action": "Follow the checklist of the release team",
}


@pytest.mark.parametrize("way", ["text", "fields", "action", "staged", "staged with a body"])
def test_no_reversal_is_merged_whatever_else_is_equal(open_memory: Opener, way: str) -> None:
    memory = open_memory()
    merged = []
    for one, other in REVERSED:
        for said in (one, other):
            if way == "text":
                found = memory.learnings.remember(said).merged
            elif way == "fields":
                found = memory.learn(NewLearning(title=said, **FIELDS), anyway=True).merged
            elif way == "action":
                found = memory.learn(
                    NewLearning(**{**FIELDS, "title": "The release", "action": said}), anyway=True
                ).merged
            else:
                found = memory.staging.stage(said, REASON if way == "staged with a body" else "").repeated
            merged += [said] if found else []
    assert merged == []


def test_opposite_rules_with_other_reasons_are_asked_about(open_memory: Opener) -> None:
    memory = open_memory()
    one = memory.learnings.remember("Increase the pool size under load", pattern_type="solution").learning
    assert memory.learnings.remember("Decrease the pool size under load").asked == (one.id,)
    one = memory.learn(NewLearning(title="Turn the debug log on in staging", **FIELDS)).learning
    reasons = {"observation": "The disk was full", "implication": "Logs need room", "action": "Set its level to info"}
    two = memory.learn(NewLearning(title="Turn the debug log off in staging", **{**FIELDS, **reasons}))
    assert two.asked == (one.id,)


def test_a_rule_that_agrees_in_another_order_is_no_reversal(open_memory: Opener) -> None:
    memory = open_memory()
    memory.learnings.remember("Run the migrations before deploying the workers")
    assert memory.learnings.remember("Deploy the workers after running the migrations").asked == ()
    assert memory.learnings.remember("Before deploying the workers, run the migrations").merged
