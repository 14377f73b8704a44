"""The tools: plain functions of a `Memory`, in the order in which clients list them.

Their texts are written for models: first when to call a tool, then how. The whole list may cost at most 3,000 tokens.
"""

from __future__ import annotations

from recollect.core.context import TRUSTS
from recollect.core.errors import BadInput
from recollect.core.records import noun_of
from recollect.mcp import schema
from recollect.mcp.schema import Around, Found, Kept, Said, Thing, fields, number, several, takes, text, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from recollect.mcp.schema import Tool
    from recollect.memory import Memory

KINDS = ("learning", "log", "node", "decision", "theme", "finding", "staged", "doc")

_WHEN = "A day (2026-03-01), a time, or words such as yesterday, last week, 3 days ago."
_SINCE, _UNTIL = text(f"Only from then on. {_WHEN}"), text("Only up to then, a day included.")
_KIND = several("Only these kinds.", {"type": "string", "enum": list(KINDS)})
_TAGS = several("Lower-case words to find it by.")
_TASK = text("Id of the task, the same in every call about it.")


@takes(
    "reads",
    query=text("The question or the task in your own words; words, parts of words, ids and quoted phrases work."),
    kind=_KIND,
    since=_SINCE,
    until=_UNTIL,
    tag=text("Only learnings and decisions with this tag."),
    topic=text("Only log entries of this topic, by name or id."),
    trust=several("Only text of these writers.", {"type": "string", "enum": list(TRUSTS)}),
    domain=text("Only learnings of this domain."),
    min_confidence=number("Leave out learnings below, 0 to 1."),
    limit=whole("How many hits at most (10)."),
    offset=whole("How many hits to skip: the next page."),
)
def search(
    memory: Memory, query: str, kind: tuple[str, ...] = (), trust: tuple[str, ...] = (), **options: Any
) -> Found:
    """Search everything remembered. Do this before you plan, decide, or touch something unfamiliar. Each hit says what
    was done about it; `get` shows it whole."""
    return schema.found(memory.search(query, kinds=kind, trusts=trust, **options), query, options)


@takes(
    "reads",
    kind=_KIND,
    since=_SINCE,
    until=_UNTIL,
    around=text("An id: list what came before and after it instead."),
    limit=whole("How many texts (10); around an id, on each side (3)."),
)
def timeline(memory: Memory, kind: tuple[str, ...] = (), around: str = "", **options: Any) -> Found | Around:
    """List what was remembered latest, newest first: what happened yesterday, where work stopped. With `around`, the
    texts before and after one."""
    if around:
        many = options.get("limit", 3)
        return schema.around(memory.texts.around(around, before=many, after=many))
    return schema.found(memory.search("", kinds=kind, **options), "", options)


@takes(
    "reads", id=text("An id from a hit or a summary: learn_…, dec_…, log/2026-03-01#3, weekly/2026-W09, root, index, …")
)
def get(memory: Memory, id: str) -> Thing:
    """Read the full text of one id."""
    found, record = memory.texts.for_agent(id)
    return Thing(id=id, kind=found.kind, title=found.title, body=found.text, trust=found.trust, record=record)


@takes(
    "adds",
    text=text("The insight in a few sentences: what was noticed, what it means, what to do next time."),
    title=text("The insight in at most 100 characters."),
    context=text("What was being worked on."),
    observation=text("What was noticed, with names and numbers."),
    implication=text("What it changes for future work."),
    action=text("The specific thing to do next time."),
    tags=_TAGS,
    domain=text("The area it belongs to, one word."),
    pattern_type=text("What kind of insight it is.", "solution", "gotcha", "best-practice", "constraint"),
    task=text("Id of the task it came from."),
    outcome=text("Id of the outcome it came from."),
    to=text("`me` for what holds in every project of this user; else leave it out."),
)
def remember(memory: Memory, text: str = "", task: str | None = None, outcome: str | None = None, **said: Any) -> Kept:
    """Keep an insight that would save the next agent time. Give `text` alone, or title, context, observation,
    implication and action. A known insight is merged, not stored twice."""
    from recollect.core.learning import COIA

    if not text and (missing := [name for name in ("title", *COIA) if name not in said]):
        raise BadInput(f"remember needs text, or {', '.join(missing)}")
    said |= {"source_task_id": task, "source_outcome_id": outcome}
    done = memory.learnings.remember(text, **said) if text else memory.learn(**said)
    return schema.kept_learning(done)


@takes(
    "changes",
    id=text("learn_… or dec_…"),
    changes=fields(
        "New values by field. Learning: title, context, observation, implication, action, tags, domain, pattern_type. "
        "Decision: decision, context, pattern, tags, category."
    ),
)
def correct(memory: Memory, id: str, changes: dict[str, Any]) -> Kept:
    """Correct a learning or decision that is wrong or no longer exact. The history keeps the old words."""
    facet = memory.decisions if noun_of(id) == "decision" else memory.learnings
    after = facet.edit(id, **changes)
    return Kept(id=id, did="corrected", title=getattr(after, "title", "") or getattr(after, "decision", ""))


@takes(
    "changes",
    id=text("learn_… or dec_…"),
    reason=text("Why, in the user's words where they said it."),
    replaced_by=text("Id of what holds instead."),
)
def forget(memory: Memory, id: str, reason: str, replaced_by: str | None = None) -> Kept:
    """Take a learning or decision out of use: wrong, outdated, or the user said "forget that". It is no longer found or
    shown; a person can bring it back."""
    if noun_of(id) == "decision":
        memory.decisions.reverse(id, reason=reason, by=replaced_by)
    elif noun_of(id) != "learning":
        memory.texts.for_agent(id)  # refuses an unknown id
        raise BadInput(f"{id[:80]} is permanent; a person can remove it with: recollect store purge {id[:80]}")
    elif replaced_by:
        memory.learnings.supersede(id, replaced_by, reason=reason)
    else:
        memory.learnings.archive(id, reason=reason)
    return Kept(id=id, did=f"replaced by {replaced_by}:" if replaced_by else "forgot")


@takes(
    "adds",
    text=text("What happened, in prose or Markdown."),
    topic=text("A few words; taken from the text if left out."),
    type=text(
        "user: who they are; feedback: what they told you to do differently; project; reference.",
        "project",
        "user",
        "feedback",
        "reference",
    ),
    rule=text("Of feedback: what to do from now on."),
    why=text("Of feedback: the reason they gave."),
    how_to_apply=text("Of feedback: when and how the rule applies."),
    session=text("Id of this session: its entries stay on one day."),
)
def log(memory: Memory, **said: Any) -> Kept:
    """Append to the journal what no hook logs: how the user wants things done, or work outside of a session. Permanent,
    and summarised later."""
    done = memory.journal.add(**said)
    return Kept(id=done.id, title=done.topic or done.title, redacted=done.redacted, note=done.warning)


@takes("adds", title=text("The insight in one line."), body=text("Why it holds and where it applies."))
def stage(memory: Memory, title: str, body: str = "") -> Kept:
    """Put a learning for the project's documents into the staging file; it moves there when it has proved to last."""
    done = memory.staging.stage(title, body)
    return Kept(id=done.id, title=title)


@takes(
    "adds",
    decision=text("What was chosen, over what."),
    confidence=number("How sure you are that it will prove right, 0 to 1."),
    category=text("One word, such as architecture or testing."),
    reasons=several("Independent arguments, each with its kind, such as analysis.", fields("", "kind", "text")),
    stakes=text("What depends on it.", "low", "medium", "high", "critical"),
    context=text("What made a choice necessary."),
    pattern=text("The general rule behind it."),
    tags=_TAGS,
    bridge=fields("What it looks like in the work, and what it is for.", "structure", "function"),
    supersedes=text("Id of the decision it replaces."),
    review_in=text("When to look at it again, such as 2w."),
)
def decide(memory: Memory, decision: str, confidence: float, category: str, **more: Any) -> Kept:
    """Record a choice with its reasons when you make it, so that it can be compared with its outcome later."""
    from recollect.core.decision import Bridge, Reason

    more["reasons"] = tuple(Reason(**{"text": "", **reason}) for reason in more.get("reasons", ()))
    if "bridge" in more:
        more["bridge"] = Bridge(**more["bridge"])
    done = memory.decisions.record(decision=decision, confidence=confidence, category=category, **more)
    return Kept(id=done.decision.id, redacted=done.redacted)


@takes(
    "changes",
    id=text("dec_…"),
    outcome=text("How it turned out.", "success", "partial", "failure", "abandoned"),
    result=text("What happened, and what shows it."),
    lesson=text("What it teaches."),
)
def review(memory: Memory, id: str, outcome: str, result: str = "", lesson: str = "") -> Kept:
    """Say what came of a decision, once that is known."""
    after = memory.decisions.review(id, outcome=outcome, result=result, lesson=lesson)
    return Kept(id=id, did=f"{outcome}:", title=after.decision)


@takes("reads", category=text("Only decisions of this category."))
def wisdom(memory: Memory, category: str | None = None) -> Said:
    """What older decisions taught, by category: how often they proved right, which principles held, how they failed.
    Read it before a choice of that kind."""
    from recollect.distil.decision_levels import wisdom_text

    return Said(lines=tuple(wisdom_text(memory.decisions.wisdom(category=category)).splitlines()))


@takes(
    "changes",
    task=_TASK,
    title=text("What the task is about, in one line."),
    description=text("The task in full."),
    outcome=text("Id of what the task serves: a feature, a milestone, a ticket."),
)
def inject(memory: Memory, task: str, title: str, description: str = "", outcome: str | None = None) -> Said:
    """Fetch the learnings that matter for a task when it starts, where no hook shows them, and remember that it was
    shown them."""
    chosen = memory.inject(task=task, outcome=outcome or task, title=title, description=description)
    ids = tuple(learning.id for learning in chosen.learnings)
    return Said(lines=tuple(chosen.markdown.splitlines()), ids=ids)


@takes(
    "changes",
    learning=text("Id of a learning that you were shown."),
    verdict=text("Whether it made a difference, or misled you.", "helpful", "not_helpful"),
    task=text("Id of the task; leave it out if you gave none."),
)
def rate(memory: Memory, learning: str, verdict: str, task: str | None = None) -> Kept:
    """Say whether a learning that you were shown helped or misled you. That decides what later tasks are shown."""
    after = memory.rate(learning, verdict, task=task)  # type: ignore[arg-type]
    return Kept(id=learning, did=f"{verdict}:", confidence=after.confidence)


@takes("reads")
def status(memory: Memory) -> Said:
    """How much is remembered here, and what waits for a person."""
    return schema.state(memory.status())


@takes("reads")
def begin(memory: Memory) -> Said:
    """This folder has no memory yet, so nothing is remembered here. Says how the user can begin one."""
    return Said(lines=("There is a memory here now. Its tools are listed when the client connects again.",))


BEGIN: Tool = begin
TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        *(search, timeline, get),
        *(remember, correct, forget, log, stage),
        *(decide, review, wisdom),
        *(inject, rate, status),
    )
}
