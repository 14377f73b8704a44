"""The tools: each a plain function of a `Memory`, in the order in which clients list them.

A model reads the docstrings and the descriptions of the arguments when it chooses a tool; they say when to call it,
then how. `read` returns any record by its id, whatever its kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any, Literal

from pydantic import Field

from recollect.core.choices import PatternType, Verdict
from recollect.core.decision import Bridge, NewDecision, Reason, Stakes
from recollect.core.journal import EntryType, NewEntry
from recollect.core.new_learning import NewLearning
from recollect.inject.learnings import NewInjection
from recollect.mcp.answers import (
    Found,
    FoundHit,
    Injected,
    LoggedEntry,
    Rated,
    RecalledEntry,
    RecallStep,
    Recollection,
    RecordedDecision,
    Remembered,
    State,
    Thing,
)
from recollect.memory import Memory
from recollect.tend.kinds import EXAMPLES


def read(memory: Memory, id: str) -> Thing:
    """One thing whole; ids are those that `search`, `recall` and `inject` name."""
    return Thing(**vars(memory.texts.for_agent(id)))


Task = Annotated[str, Field(description="Id of the task you work on, the same in every call about it.")]
Outcome = Annotated[str, Field(description="Id of what the task serves: a feature, a milestone, a ticket.")]
Tags = Annotated[tuple[str, ...], Field(description="Lower-case words to find it by.")]


def search(
    memory: Memory,
    query: Annotated[str, Field(description="The question or the task, in your own words.")],
    limit: Annotated[int | None, Field(description="How many hits at most.")] = None,
    min_confidence: Annotated[float | None, Field(description="Leave out what is below, 0 to 1.")] = None,
    domain: Annotated[str | None, Field(description="Only this domain.")] = None,
) -> Found:
    """Search what is remembered. Do this before you plan, decide, or touch something unfamiliar."""
    hits = memory.search(query, limit=limit, min_confidence=min_confidence, domain=domain)
    return Found(
        hits=tuple(
            FoundHit(
                id=hit.id,
                kind=hit.kind,
                title=hit.title,
                snippet=hit.snippet,
                score=hit.score,
                confidence=hit.learning.confidence if hit.learning else None,
                out_of_use=hit.out_of_use,
                trust=hit.trust,
            )
            for hit in hits
        )
    )


def get(memory: Memory, id: Annotated[str, Field(description=f"One of {EXAMPLES}.")]) -> Thing:
    """Read one thing whole, by the id that a search, a recall or a summary named."""
    return read(memory, id)


def remember(
    memory: Memory,
    title: Annotated[str, Field(description="The insight in at most 100 characters.")],
    context: Annotated[str, Field(description="What was being worked on.")],
    observation: Annotated[str, Field(description="What was noticed, with names and numbers.")],
    implication: Annotated[str, Field(description="What it changes for future work.")],
    action: Annotated[str, Field(description="The specific thing to do next time.")],
    tags: Tags = (),
    domain: Annotated[str | None, Field(description="The area it belongs to, one word.")] = None,
    pattern_type: Annotated[PatternType, Field(description="What kind of insight it is.")] = "solution",
    task: Annotated[str | None, Field(description="Id of the task it came from.")] = None,
    outcome: Annotated[str | None, Field(description="Id of the outcome it came from.")] = None,
) -> Remembered:
    """Keep an insight that would save the next agent time. A known insight is merged, not stored twice."""
    new = NewLearning(
        title=title,
        context=context,
        observation=observation,
        implication=implication,
        action=action,
        tags=tags,
        domain=domain,
        pattern_type=pattern_type,
        source_task_id=task,
        source_outcome_id=outcome,
    )
    done = memory.learn(new)
    kept = done.learning
    return Remembered(
        id=kept.id,
        title=kept.title,
        confidence=kept.confidence,
        merged=done.merged,
        left=done.left,
        redacted=done.redacted,
    )


def log(
    memory: Memory,
    text: Annotated[str, Field(description="What happened, in prose or Markdown.")],
    topic: Annotated[str | None, Field(description="A few words; taken from the text if left out.")] = None,
    type: Annotated[
        EntryType,
        Field(description="user: who they are; feedback: what they told you to do differently; project; reference."),
    ] = "project",
    session: Annotated[str | None, Field(description="Id of this session: its entries stay on one day.")] = None,
) -> LoggedEntry:
    """Append to the journal: what was asked, done, decided and left open. It is permanent and is summed up later."""
    done = memory.journal.add(NewEntry(text=text, topic=topic, type=type, session=session))
    return LoggedEntry(id=done.id, topic=done.topic, redacted=done.redacted, warning=done.warning)


def decide(
    memory: Memory,
    decision: Annotated[str, Field(description="What was chosen, over what.")],
    confidence: Annotated[float, Field(description="How sure you are that it will prove right, 0 to 1.")],
    category: Annotated[str, Field(description="One word, such as architecture or testing.")],
    reasons: Annotated[tuple[Reason, ...], Field(description="Independent arguments, each with its kind.")] = (),
    stakes: Stakes = "medium",
    context: Annotated[str, Field(description="What made a choice necessary.")] = "",
    pattern: Annotated[str, Field(description="The general rule behind it.")] = "",
    tags: Tags = (),
    bridge: Annotated[Bridge | None, Field(description="What it looks like in the work, and what it is for.")] = None,
    supersedes: Annotated[str | None, Field(description="Id of the decision it replaces.")] = None,
    review_in: Annotated[str | None, Field(description="When to look at it again, such as 2w.")] = None,
) -> RecordedDecision:
    """Record a choice with its reasons when it is made, so that its outcome can be held against it later."""
    new = NewDecision(
        decision=decision,
        confidence=confidence,
        category=category,
        reasons=reasons,
        stakes=stakes,
        context=context,
        pattern=pattern,
        tags=tags,
        bridge=bridge,
        supersedes=supersedes,
        review_in=review_in,
    )
    done = memory.decisions.record(new)
    return RecordedDecision(id=done.decision.id, redacted=done.redacted)


def inject(
    memory: Memory,
    task: Task,
    outcome: Outcome,
    title: Annotated[str, Field(description="What the task is about, in one line.")],
    description: Annotated[str, Field(description="The task in full.")] = "",
) -> Injected:
    """Fetch the learnings that matter for a task, when it starts, and remember that it was shown them."""
    chosen = memory.inject(NewInjection(task=task, outcome=outcome, title=title, description=description))
    return Injected(learnings=tuple(learning.id for learning in chosen.learnings), markdown=chosen.markdown)


def rate(
    memory: Memory,
    learning: Annotated[str, Field(description="Id of a learning that the task was shown.")],
    verdict: Annotated[Verdict, Field(description="Whether it made a difference, or misled you.")],
    task: Task,
) -> Rated:
    """Say whether a learning that this task was shown helped, when the task is done. Counts once per task."""
    after = memory.rate(learning, verdict, task=task)
    return Rated(id=after.id, verdict=verdict, confidence=after.confidence)


def recall(
    memory: Memory,
    query: Annotated[str, Field(description="What you want to know about earlier work.")],
    limit: Annotated[int, Field(description="How many entries at most.")] = 5,
) -> Recollection:
    """Ask the journal what happened: from the summary of everything down to the raw words, with the way shown."""
    found = memory.recall(query, limit=limit)
    return Recollection(
        steps=tuple(RecallStep(id=step.id, line=step.line) for step in found.steps),
        entries=tuple(
            RecalledEntry(**{field.name: getattr(entry, field.name) for field in fields(RecalledEntry)})
            for entry in found.entries
        ),
    )


def status(memory: Memory) -> State:
    """How much is remembered here, and what waits for a person."""
    found = memory.status()
    return State(**{field.name: getattr(found, field.name) for field in fields(State)})


Effect = Literal["reads", "adds", "repeats"]
"""What a call does: change nothing, add a record each time, or leave the same state when it is repeated."""

TOOLS: tuple[tuple[Callable[..., Any], Effect], ...] = (
    (search, "reads"),
    (get, "reads"),
    (remember, "adds"),
    (log, "adds"),
    (decide, "adds"),
    (inject, "repeats"),
    (rate, "repeats"),
    (recall, "reads"),
    (status, "reads"),
)
