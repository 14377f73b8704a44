"""A status update is not a decision.

The first forty of each were written before the rule, which told 78 of 80 apart and was then mended; the last twenty of
each were written after it and run once.
"""

import pytest

from recollect.text.quality import is_incident, is_status_update

DECISIONS = """
Use PostgreSQL for the team store
We will keep SQLite as the embedded default
Chose msgspec over pydantic because it imports in 20 ms
Switched from REST polling to webhooks for build results
Don't cache authenticated responses at the edge
Drop Python 3.10 support in the next release
Adopt trunk-based development with short-lived branches
Store confidence as integer thousandths, so that 0.6 is exactly 0.6
Prefer composition over inheritance in the plugin layer
Postpone the search rewrite until the index format is stable
Reject the vendor's proposal; build the queue ourselves
Every service gets its own database
No feature flags in library code
Retry idempotent requests at most three times with jitter
One writer per space, enforced by an advisory lock
The API returns 404 for foreign resources rather than 403
Decided to split the monolith along billing first
Pin all GitHub actions by commit hash
Feature branches must be rebased before merge
Treat model output as untrusted input
Go with server-side rendering for the settings page
Hash partitions are not worth it below a million rows, so keys start with the tenant
Picked Redis streams; Kafka is more than we need
Make the hook exit 0 whatever happens
Deprecate the v1 endpoints and remove them in June
Limit uploads to 20 MB
Keep the raw logs forever
We agreed that on-call rotates weekly
Write migrations by hand instead of generating them
Run the linter in pre-commit, not in CI only
Standardise on ISO 8601 in UTC for every timestamp
Fix the schema now and pay for one slow migration
Test against a real PostgreSQL, never a mock
Vendor the tokenizer so that installs work offline
Mobile first: the desktop layout follows from it
Rename the product to Recollect
Outsource transcription to a hosted API
Move image processing to a background job
Errors from the billing provider are shown to the user verbatim
Hire a contractor for the accessibility audit
Rate-limit anonymous users to ten requests a minute
Nested transactions are forbidden
Prices come from the catalogue service only
Drop the legacy theme with version 4
Write ADRs for anything that touches two teams
One queue per tenant
Run migrations before the deploy, not after
Buy a licence for the PDF library
Encrypted backups go to two regions
No secrets in environment files
Version the API in the path
Speed matters more than memory in the parser
Open source the client libraries
Need-to-know access for the billing data
Render charts on the server
Freeze dependencies during the release week
Use UUIDv7 for new tables
Keep the monolith until the second team exists
Refuse uploads without a checksum
Show prices with tax in Europe
""".strip().splitlines()

STATUS = """
Finished the login page
Deployed v1.4.2 to staging
All tests are passing again
Working on the parser, about 60 % done
Fixed the flaky test in the payment module
Merged PR 482
Currently investigating the memory leak
We completed the migration yesterday
Updated the changelog and bumped the version
Added unit tests for the date helpers
The build is broken on main
Ran the benchmark suite twice
Today I refactored the settings loader
Waiting for review from the platform team
Status: in progress
Blocked by the missing credentials
The release has been published
Wrote documentation for the export command
I've implemented the retry logic
Spent the morning debugging the websocket handshake
Resolved merge conflicts in the lockfile
Reviewed three pull requests
CI is green
Started the upgrade to Django 5
Removed dead code from the importer
The deploy is done
Tests pass locally
Investigated the timeout; found nothing yet
Set up the new laptop
Closed 14 stale issues
Progress report: two of five endpoints are ready
Pushed the branch and opened a pull request
Renamed the variables in utils.py
Got the Docker image down to 90 MB
Still stuck on the certificate problem
Cleaned up the test fixtures
The feature is live
Met with the design team about the dashboard
Continued with the import of old tickets
Installed the new monitoring agent on all hosts
Migrated the staging database
Closed the quarter's tickets
We are polishing the settings page
Rolled back the release
The build failed twice
Cleaned the cache on runner 3
I'm writing the release notes
Sent the invoice to the client
Prepared slides for Monday
Found a memory leak in the worker
Yesterday I reviewed the contract
Benchmarks are running
Drafted the RFC
All hands meeting went well
Deployment to production is done
Replied to the security questionnaire
Discussed the roadmap with sales
The importer is broken again
Synced with the design team
Onboarded two engineers
""".strip().splitlines()


@pytest.mark.parametrize("text", DECISIONS)
def test_a_choice_is_accepted(text: str) -> None:
    assert not is_status_update(text)


@pytest.mark.parametrize("text", STATUS)
def test_a_report_of_work_is_told_apart(text: str) -> None:
    assert is_status_update(text)


@pytest.mark.parametrize("what", ["Lost updates are prevented by a version column", "Sent mails are archived"])
def test_what_was_lost_or_sent_can_be_what_a_choice_is_about(what: str) -> None:
    assert not is_status_update(what)


@pytest.mark.parametrize(
    "text", ["Broke the build with a bad merge", "We lost two hours", "Forgot to rotate the token"]
)
def test_a_mishap_is_a_report_too(text: str) -> None:
    assert is_status_update(text)
    assert is_incident(text)
