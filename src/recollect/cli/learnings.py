"""`recollect learn` and `recollect undo`.

Without options, `learn add` and `learn edit` open the user's editor. If the text cannot be used, its file is kept.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from recollect.cli.command import (
    Group,
    Output,
    answers,
    because,
    expecting,
    listing,
    of_status,
    page_of,
    paged,
    redactions,
    table,
)
from recollect.core.choices import PATTERN_TYPES, VERDICTS, Verdict
from recollect.core.clock import iso
from recollect.core.context import ME, PROJECT
from recollect.core.decision import Decision
from recollect.core.errors import BadInput, NotFound, RecollectError, Refused
from recollect.core.journal import Entry
from recollect.core.learning import COIA, Learning
from recollect.core.new_learning import LearningEdit
from recollect.core.records import noun_of, plain
from recollect.memory import Memory
from recollect.search.everything import holder
from recollect.store.learnings import SORTS
from recollect.store.topics import TopicRow

NAMES = ("title", *COIA)
_INTRODUCTION = (
    "# Lines that begin with # are ignored. Write after each colon; change nothing to cancel.\n"
    "# Indent further lines of a text by two spaces.\n"
)
_INDENT = "  "
STRAY = ""  # the name for text before the first field


@contextmanager
def typed_in_editor(fields: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The fields that the user changed. If using them fails, the error names the file that keeps the text."""
    if not (os.environ.get("VISUAL") or os.environ.get("EDITOR")) and not sys.stdin.isatty():
        raise BadInput("No terminal to open an editor in. Give the fields as options, or set $EDITOR")
    template = _INTRODUCTION + "".join(
        f"{name}: {fields.get(name, '')}".replace("\n", f"\n{_INDENT}") + "\n" for name in NAMES
    )
    import tempfile

    handle, name = tempfile.mkstemp(prefix="recollect-", suffix=".txt")
    path = Path(name)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(template)
    shown = _fields_in(path)
    failed = ""
    try:
        click.edit(filename=name)
    except click.ClickException as error:
        failed = error.message
    given = _fields_in(path)
    changed = {name: text for name, text in given.items() if text != shown[name]}
    if not changed or not any(given.values()):
        path.unlink()
        if failed:
            raise Refused(f"{failed}; nothing was changed")
        raise BadInput("You typed nothing, so nothing was changed")
    if failed:
        raise Refused(f"{failed}; nothing was changed. What you typed is kept in {path}")
    if STRAY in changed:
        raise BadInput(
            f"{changed[STRAY]!r:.80} belongs to no field; begin with `title:`. What you typed is kept in {path}"
        )
    try:
        yield changed
    except RecollectError as error:
        raise type(error)(f"{error}. What you typed is kept in {path}") from None
    path.unlink()


def _fields_in(path: Path) -> dict[str, str]:
    """Texts by field; each ends where the next field begins."""
    current: list[str] = []
    found = {STRAY: current}
    for line in path.read_text("utf-8-sig", "replace").split("\n"):
        name, colon, rest = line.partition(":")
        if line.startswith("#"):
            continue
        if colon and name in NAMES:
            current = found.setdefault(name, [])
            line = rest
        current.append(line.removeprefix(_INDENT))
    return {name: "\n".join(lines).strip() for name, lines in found.items()}


to_ring = click.option(
    "--to", default=PROJECT, show_default=True, metavar="RING", help="The ring: project, me, or a shared space."
)


@click.group(cls=Group)
def learn() -> None:
    """Learnings: what was noticed, what it means, what to do."""


@learn.command()
@click.argument("text", required=False)
@click.option("--title", help="Words that a search for this problem would use; at most 100 characters.")
@click.option("--context", help="What were you working on?")
@click.option("--observation", help="What did you notice?")
@click.option("--implication", help="How should this change future work?")
@click.option("--action", help="The specific change to make.")
@click.option("--tag", "tags", multiple=True, help="A word to find it by; may be repeated.")
@click.option("--domain", help="Its area, such as database, testing, api-integration.")
@click.option(
    "--pattern-type",
    type=click.Choice(PATTERN_TYPES),
    default="solution",
    show_default=True,
    help="What kind of insight it is.",
)
@click.option("--confidence", type=float, help="Between 0 and 1; by default it depends on author and type.")
@click.option("--outcome", "source_outcome_id", help="Id of the outcome it came from.")
@click.option("--task", "source_task_id", help="Id of the task it came from.")
@click.option("--anyway", is_flag=True, help="Save it even if it seems to teach nothing.")
@to_ring
@answers
def add(memory: Memory, text: str | None, to: str, **given: Any) -> Output:
    """Add a learning: the insight in one TEXT, or all of its fields. Without either, your editor opens."""
    fields = {name: given.pop(name) for name in NAMES}
    with ExitStack() as editing:
        if text:
            chosen = {name: value for name, value in (fields | given).items() if value}
            captured = memory.learnings.remember(text, **chosen, to=to)
        else:
            if not any(fields.values()):
                fields = dict(editing.enter_context(typed_in_editor({})))
            if missing := [name for name in NAMES if not fields.get(name)]:
                raise BadInput(f"a learning also needs {', '.join('--' + name for name in missing)}, or one TEXT alone")
            captured = memory.learn(**fields, **given, to=to)
    learning = captured.learning
    said = f"saved {learning.id}" + (f" in ring {to}" if to != PROJECT else "")
    if captured.merged:
        said = f"{learning.id} already says so; seen {learning.recurrence} times"
    if captured.confirmed:
        said += f". An agent wrote it and you confirmed it: confidence is now {learning.confidence:.3f}"
    if captured.replaced:
        said += f". It replaces {', '.join(captured.replaced)}; recollect undo takes both back"
    if captured.asked:
        said += f". It may contradict {', '.join(captured.asked)}; decide with: recollect inbox"
    if captured.taken:
        said += f". Updated: {_options(captured.taken)}"
    if captured.left:
        said += f". Left unchanged: {_options(captured.left)}; edit it with `recollect learn edit` or `learn tag`"
    became = {name: value for name, value in vars(captured).items() if name != "learning"}
    return Output({**plain(learning), **became}, said + redactions(captured.redacted))


def _options(fields: tuple[str, ...]) -> str:
    return ", ".join(field.replace("_", "-") for field in fields)


@learn.command("list")
@of_status
@click.option("--domain", help="Only this domain.")
@click.option("--tag", help="Only with this tag.")
@click.option("--min-confidence", type=float, default=0.0, help="Leave out learnings below this.")
@click.option("--sort", default="newest", show_default=True, type=click.Choice(list(SORTS)), help="Order of the list.")
@click.option("--ring", default=PROJECT, show_default=True, help="The ring: project, me, or a shared space.")
@paged
@answers
def list_(memory: Memory, ring: str, limit: int, offset: int, **wanted: Any) -> Output:
    """List learnings."""
    if ring == ME and ME not in memory.context.rings.names:  # listing must not create it
        raise NotFound("your own ring is empty; add to it with: recollect learn add --to me")
    found, total = memory.ring(ring).learnings.page(limit=limit, offset=offset, **wanted)
    rows = [(each.id, f"{each.confidence:.3f}", each.status, each.title) for each in found]
    nothing = "no such learnings; add one with: recollect learn add, or list more with: --status all"
    text = table(("id", "confidence", "status", "title"), rows, nothing)
    return page_of("learnings", found, text, total=total, limit=limit, offset=offset)


@learn.command()
@click.argument("id")
@answers
def show(memory: Memory, id: str) -> Output:
    """Show a learning in full."""
    learning = memory.learnings.get(id)
    return Output(learning, card(learning))


@learn.command()
@click.argument("id")
@answers
def history(memory: Memory, id: str) -> Output:
    """Show how a learning's confidence changed, and why."""
    events = memory.learnings.history(id)
    rows = [(iso(event.at), f"{event.new['confidence']:.3f}", event.what, event.who, event.reason) for event in events]
    return Output(listing("events", events), table(("when", "confidence", "what", "who", "reason"), rows))


def _words(command: Any) -> Any:
    for name in reversed(NAMES):
        command = click.option(f"--{name}", help=f"New {name}.")(command)
    return command


@learn.command()
@click.argument("id")
@_words
@click.option("--domain", help="New domain; an empty one removes it.")
@click.option("--pattern-type", type=click.Choice(PATTERN_TYPES), help="New type.")
@click.option("--confidence", type=float, help="New confidence, between 0 and 1.")
@expecting
@answers
def edit(memory: Memory, id: str, version: int | None, **fields: Any) -> Output:
    """Edit a learning. Without options, your editor opens."""
    with ExitStack() as editing:
        if all(value is None for value in fields.values()):
            learning = memory.learnings.get(id)
            version = learning.version if version is None else version
            before = {name: getattr(learning, name) for name in NAMES}
            fields = dict(editing.enter_context(typed_in_editor(before)))
        after = memory.learnings.edit(id, LearningEdit(**fields), expect=version)
    return Output(after, f"{id} is now at version {after.version}")


@learn.command()
@click.argument("id")
@click.option("--add", "add_", multiple=True, help="Add this tag; may be repeated.")
@click.option("--remove", multiple=True, help="Remove this tag; may be repeated.")
@answers
def tag(memory: Memory, id: str, add_: tuple[str, ...], remove: tuple[str, ...]) -> Output:
    """Change a learning's tags."""
    if not add_ and not remove:
        raise BadInput("Name at least one tag: --add WORD or --remove WORD")
    after = memory.learnings.tag(id, add=add_, remove=remove)
    return Output(after, f"{id}: {', '.join(after.tags) or 'no tags'}")


@learn.command()
@click.argument("id")
@because
@answers
def archive(memory: Memory, id: str, reason: str) -> Output:
    """Archive a learning; `learn restore` brings it back."""
    after = memory.learnings.archive(id, reason=reason)
    return Output(after, f"{id} is {after.status}")


@learn.command()
@click.argument("id")
@answers
def restore(memory: Memory, id: str) -> Output:
    """Put an archived or superseded learning back into use."""
    after = memory.learnings.restore(id)
    return Output(after, f"{id} is {after.status}")


@learn.command()
@click.argument("old")
@click.argument("new")
@because
@answers
def supersede(memory: Memory, old: str, new: str, reason: str) -> Output:
    """Mark OLD as replaced by NEW."""
    after = memory.learnings.supersede(old, new, reason=reason)
    return Output(after, f"{old} is superseded by {new}")


@learn.command()
@click.argument("keep")
@click.argument("other")
@because
@answers
def merge(memory: Memory, keep: str, other: str, reason: str) -> Output:
    """Merge OTHER into KEEP: tags, sources and recurrence move over."""
    after = memory.learnings.merge(keep, other, reason=reason)
    return Output(after, f"{other} is merged into {keep}, seen {after.recurrence} times")


@learn.command()
@click.argument("id")
@click.option("--off", is_flag=True, help="Unpin it.")
@answers
def pin(memory: Memory, id: str, off: bool) -> Output:
    """Pin a learning: it is never decayed or archived automatically."""
    after = memory.learnings.pin(id, on=not off)
    return Output(after, f"{id} is {'pinned' if after.pinned else 'not pinned'}")


@learn.command()
@click.argument("learning")
@click.option("--to", required=True, metavar="RING", help="The ring: me, a shared space, or project.")
@answers
def move(memory: Memory, learning: str, to: str) -> Output:
    """Move a learning to another ring, such as your own, which sessions of every project read."""
    done = memory.learnings.move(learning, to=to)
    said = "which already says so" if done.merged else f"confidence {done.learning.confidence:.3f}"
    return Output({**plain(done.learning), "merged": done.merged}, f"moved to ring {to}: {done.learning.id}, {said}")


@learn.command()
@click.argument("id")
@answers
def adopt(memory: Memory, id: str) -> Output:
    """Vouch for an imported learning, so that it may be injected."""
    after = memory.learnings.adopt(id)
    return Output(after, f"{id} may now be injected")


@learn.command()
@click.argument("learning")
@click.option("--task", help="The task it was shown to; the latest by default.")
@click.option("--verdict", type=click.Choice(VERDICTS), required=True, help="Whether it helped.")
@answers
def rate(memory: Memory, learning: str, task: str | None, verdict: Verdict) -> Output:
    """Rate whether a learning helped; a person may change a verdict later."""
    after = memory.rate(learning, verdict, task=task)
    return Output(after, f"{learning} now has confidence {after.confidence:.3f}")


@learn.command()
@click.argument("id")
@click.option("--title", help="For a finding: the title; by default its proposed rule.")
@click.option("--context", default="", help="For a staged entry: when it applies; by default that it was staged.")
@click.option(
    "--implication", default="", help="For a staged entry: what it means for future work; by default its body."
)
@click.option("--action", default="", help="For a staged entry: what to do; by default its title.")
@answers
def promote(memory: Memory, id: str, title: str | None, **fields: str) -> Output:
    """Turn a finding (finding/WORK-ID#2) or a staged entry (its slug) into a learning that names its source."""
    finding = noun_of(id) == "finding"
    if finding and any(fields.values()):
        raise BadInput("a finding takes --title only; edit the learning afterwards: recollect learn edit")
    if title and not finding:
        raise BadInput("a staged entry keeps its title; edit the learning afterwards: recollect learn edit")
    if finding:
        captured = memory.themes.promote(id, title=title)
    else:
        captured = memory.staging.promote(id.removeprefix("staged/"), **fields)
    learning = captured.learning
    said = f"{learning.id} already says so" if captured.merged else f"saved {learning.id} from {id}"
    return Output({**vars(learning), "merged": captured.merged}, said)


@click.command()
@answers
def undo(memory: Memory) -> Output:
    """Undo your last change, or an agent's, to learnings, decisions or topics, or your log; again: the one before."""
    restored = memory.data.undo()
    ring, _ = holder(memory.context, restored[0].id)
    memory = memory.ring(ring)
    (event,) = memory.work.latest(limit=1, only=("learning.undone", "decision.undone", "topic.undone", "log.undone"))
    what, change = event.reason.removeprefix("undo of ").rstrip(")").split(" (")
    at = iso(memory.work.of_change(change)[0].at)[:16]
    states = [f"{each.id} is {_state(each)}" for each in restored]
    place = f" in ring {ring}" if ring != PROJECT else ""
    gone = [one.id for one in restored if isinstance(one, Learning) and one.out_of_use]
    states += [f"to bring it back: recollect learn restore {id}" for id in gone]
    text = f"undid {what} of {at}Z{place}:" + ("\n" if len(restored) > 1 else " ") + "\n".join(states)
    kinds = {Learning: "learnings", Decision: "decisions", TopicRow: "topics", Entry: "entries"}
    return Output({kinds[type(restored[0])]: restored}, text)


def _state(one: Learning | Decision | TopicRow | Entry) -> str:
    if isinstance(one, Entry):
        return f"no longer in the log. It said:\n{one.text}"
    if isinstance(one, TopicRow):
        return f"{one.state}: {one.name}"
    return f"{one.status}: {one.title if isinstance(one, Learning) else one.decision}"


def card(learning: Learning) -> str:
    lines = [
        learning.title,
        f"{learning.id} · {learning.pattern_type} · {learning.out_of_use or 'active'}"
        f" · confidence {learning.confidence:.3f}"
        f" · injected {learning.times_injected}x, helpful {learning.times_helpful}x,"
        f" not helpful {learning.times_not_helpful}x · version {learning.version}",
    ]
    if learning.tags or learning.domain:
        lines.append(f"{learning.domain or 'no domain'} · {', '.join(learning.tags) or 'no tags'}")
    lines.append("")
    for name in COIA:
        begun, *more = getattr(learning, name).split("\n")
        lines += [f"{name.capitalize():<12} {begun}", *(f"{'':<12} {line}".rstrip() for line in more)]
    return "\n".join(lines)
