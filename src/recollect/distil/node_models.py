"""What a model is asked about the tree: the summary of a node, ROOT.md's recent patterns, the names of topics.

A pass calls a model once per level, for the newest node, and once more for the node that has waited longest; every
other node gets the offline summary at once and waits its turn. Cached answers cost no call and are always used. A topic
of several entries is asked about once, unless a person or an agent named it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from recollect.capture import log_text
from recollect.capture.topics import rename
from recollect.core import calendar
from recollect.core.calendar import LEVELS, ROOT, Level
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput
from recollect.core.journal import Node
from recollect.models.ask import (
    MAX_SOURCE_CHARS,
    OFFLINE,
    RETOLD_SHARE,
    TRIES,
    AgentProvider,
    Ask,
    ask_within,
    load_prompt,
    read_line,
    strip_fence,
)
from recollect.models.budget import CallLimit
from recollect.store import journal, model_rows, passages
from recollect.store import topics as rows
from recollect.store.journal import NodeRow
from recollect.store.topics import TopicRow
from recollect.text import nodes, points, root
from recollect.text.nodes import BYTES_PER_LINE, Material, Summariser, path_of
from recollect.text.root import LATEST, Wording, patterns_of, unpack_digest
from recollect.text.topics import as_name, key_of, reads_as_name

PROMPT = "summarise"
PROMPT_STATE = "summaries by"  # key of the tree's state: the prompt version that the summaries were asked with


class ModelSummaries:
    """The summarisers of one pass, and how many calls they made."""

    def __init__(self, ctx: Context, *, unlimited: bool = False, asking: bool = True):
        self._ctx = ctx
        self._unlimited = unlimited and asking
        self._asking = asking
        self._configured = {level for level in LEVELS if ctx.models.provider(level) is not None}
        self.allowed: set[str] = set()  # nodes that a model may be asked about in this pass
        self.calls = 0
        self.failed: set[str] = set()
        """Nodes whose model call gave no usable summary."""

    def due(self, tx: Tx, level: Level) -> list[str]:
        """Nodes a model may summarise now: the one that waited longest, and those an agent has answered for."""
        if level not in self._configured:
            return []
        waiting = journal.longest_waiting(tx, level)
        found = [*([waiting.id] if waiting else []), *(each.subject for each in model_rows.answered_asks(tx, level))]
        self.allowed.update(found)
        return found

    def wanted(self, row: NodeRow) -> bool:
        """Whether an unchanged node is made again because a model may now summarise it."""
        return row.level in self._configured and row.waiting and (self._unlimited or row.id in self.allowed)

    def waits(self, node: Node) -> bool:
        level = node.id.partition("/")[0]
        return level in self._configured and _may_improve(node.generator, _version())

    def renew(self) -> None:
        """Mark which nodes wait for a model, once one was configured or removed, or its prompt has changed."""
        made_by = " ".join([_version(), *sorted(self._configured)]) if self._configured else ""
        if self._ctx.read(journal.state, PROMPT_STATE) == made_by:
            return
        with self._ctx.db.write(self._ctx.space) as tx:
            for level in LEVELS:
                for generator in journal.generators(tx, level):
                    waits = level in self._configured and _may_improve(generator, _version())
                    journal.set_waiting(tx, level, generator, waiting=waits)
            journal.put_state(tx, PROMPT_STATE, made_by)

    def summariser(self, node: str) -> Summariser:
        if node.partition("/")[0] not in self._configured:
            return nodes.offline

        def summarise(material: Material) -> tuple[str, str]:
            allowed = self._unlimited or (self._asking and node in self.allowed)
            limit = CallLimit(left=TRIES if allowed and len(material.text) <= MAX_SOURCE_CHARS else 0)
            found = ask_within(self._ctx, summary_question(material), limit)
            self.calls += limit.made
            if found is None:
                return nodes.offline(material)
            if found.generator == OFFLINE:
                self.failed.add(node)
                return nodes.offline(material)
            return found.value, found.generator

        return summarise


def summary_question(material: Material) -> Ask[str]:
    titles = "\n".join(f"## {title}" for section, title in nodes.HEADINGS[material.period.level] if section != "entity")
    head = f"Period: {material.period.id}\nLines: at most {material.budget.lines}\n{titles}"
    return Ask(
        kind=material.period.level,
        subject=material.period.id,
        prompt=PROMPT,
        sources=(head, nodes.without_kept(material.text)),
        ours=lambda text: nodes.without_kept(strip_fence(text), material.points),
        own_words=RETOLD_SHARE,
        offline=lambda: nodes.offline(material)[0],
        accept=lambda text: _accepted(text, material),
        max_tokens=4_000,
        timeout=120.0,
    )


def _accepted(text: str, material: Material) -> str:
    """Put back the points that a model's summary left out; raise BadInput when it cannot be used."""
    body = text
    reason = nodes.fault(body, material)
    if not reason:
        body = nodes.completed(body, material)
        reason = nodes.fault(body, material)
    if reason:
        raise BadInput(f"the summary was not used: {reason}")
    return body


def _may_improve(generator: str, version: str) -> bool:
    """Whether a node was summarised without a model, or with an older prompt."""
    return generator not in (nodes.COPY, nodes.FOREIGN) and not generator.endswith(f"@{version}")


def _version() -> str:
    return load_prompt(PROMPT).version


PATTERNS_KIND = "root"
_LINE = r"- (.+?): (.+) → log/(\d{4}-\d{2}-\d{2}#\d+)"


def patterns_wording(ctx: Context, *, asking: bool = True) -> Wording:
    """How a pass words the patterns: by a model if one is configured, otherwise as they were found."""
    if ctx.models.provider(PATTERNS_KIND) is None:
        return root.as_found

    def word(lines: Sequence[str]) -> tuple[list[str], str]:
        if not lines:
            return root.as_found(lines)
        found = ask_within(ctx, patterns_question(lines), CallLimit(left=TRIES if asking else 0))
        return root.as_found(lines) if found is None or found.generator == OFFLINE else (found.value, found.generator)

    return word


def patterns_question(lines: Sequence[str]) -> Ask[list[str]]:
    return Ask(
        kind=PATTERNS_KIND,
        subject=ROOT,
        sources=("\n".join(lines),),
        own_words=RETOLD_SHARE,
        offline=lambda: list(lines),
        accept=lambda text: _patterns_accepted(text, lines),
        max_tokens=1_500,
    )


def _patterns_accepted(text: str, lines: Sequence[str]) -> list[str]:
    wanted = {found[3] for line in lines if (found := re.fullmatch(_LINE, line))}
    said: dict[str, str] = {}
    for raw in strip_fence(text).splitlines():
        if not raw.strip():
            continue
        found = re.fullmatch(_LINE, points.plain(raw))
        if found is None:
            raise BadInput("a line of the answer is not `- topic: text → log/…`")
        if found[3] not in wanted or found[3] in said:
            raise BadInput(f"the answer names log/{found[3]}, which is not among the sources, or names it twice")
        said[found[3]] = found[0]
    if said.keys() != wanted:
        raise BadInput("the answer leaves out patterns")
    return list(said.values())


def node_question(ctx: Context, id: str) -> Ask[str] | None:
    """The question about a day, week or month, made from the files alone; None when the period is gone, or so short
    that it is copied."""
    seen: list[Material] = []

    def collect(material: Material) -> tuple[str, str]:
        seen.append(material)
        return "", nodes.OFFLINE

    period = calendar.parse_period(id)
    limits = ctx.settings.tree
    names = ctx.read(rows.names_between, period.first, period.last)
    if period.level == "daily":
        log = log_text.read(ctx, period.first, copied=limits.daily_lines * BYTES_PER_LINE)
        nodes.daily_body(period.first, log.entries, log.raw, limits.daily_lines, collect, names)
    else:
        below = "daily" if period.level == "weekly" else "weekly"
        found = ctx.read(journal.nodes_between, below, period.first, period.last)
        texts = [(row.id, ctx.vault.read(path_of(row.id))) for row in found]
        children = [nodes.parse(child, text) for child, text in texts if text is not None]
        threshold = limits.weekly_lines if period.level == "weekly" else limits.monthly_lines
        if children:
            nodes.parent_body(period, children, threshold, collect, names)
    return summary_question(seen[0]) if seen else None


def root_question(ctx: Context) -> Ask[list[str]] | None:
    """The question about the recent patterns; None when there are none."""
    with ctx.db.read(ctx.space) as tx:
        months = list(journal.months(tx))[-LATEST:]
        latest = [unpack_digest(text) for text in journal.capsules(tx, months)]
    lines = patterns_of(latest, ctx.settings.tree.root_max_tokens)
    return patterns_question(lines) if lines else None


TOPIC_KIND = "topic"
TOPIC_TITLES = 5  # the first entries tell what a topic is about; later ones would make it a new question
TOPIC_WORDS = 5  # of a name; the prompt asks for four
TOPIC_CALLS = 3  # a cycle; topics come in with the work of a day


def name_question(topic: TopicRow, titles: tuple[str, ...]) -> Ask[str]:
    def accept(text: str) -> str:
        name = as_name(read_line(text, words=TOPIC_WORDS).strip("\"'"))
        if not reads_as_name(name):
            raise BadInput("the answer is not a short name")
        return name

    return Ask(
        kind=TOPIC_KIND,
        subject=topic.id,
        sources=(json.dumps({"name": topic.name, "titles": titles}, ensure_ascii=False),),
        own_words=0.5,
        offline=lambda: topic.name,
        accept=accept,
        max_tokens=30,
    )


def open_question(ctx: Context, id: str) -> Ask[str] | None:
    """What would be asked about a topic now; None when its name is no longer the offline one."""
    with ctx.db.read(ctx.space) as tx:
        topic = rows.get(tx, id, now=ctx.clock.now())
        return name_question(topic, _titles(tx, topic)) if topic.named_by == "offline" else None


def _titles(tx: Tx, topic: TopicRow) -> tuple[str, ...]:
    members = [entry for entry, _ in reversed(rows.entries_of(tx, topic.id))][:TOPIC_TITLES]
    return tuple(stored.title for id in members if (stored := passages.by_id(tx, id)))


def reword(ctx: Context) -> tuple[int, int]:
    """Ask for better names; how many topics got an answer, and how many wait."""
    provider = ctx.models.provider(TOPIC_KIND)
    if provider is None:
        return 0, 0
    with ctx.db.read(ctx.space) as tx:
        listed, _ = rows.listed(tx, now=ctx.clock.now(), limit=1_000)
        found = [topic for topic in listed if topic.named_by == "offline" and topic.entries > 1]
        questions = [(topic, name_question(topic, _titles(tx, topic))) for topic in found[: TOPIC_CALLS * 2]]
    limit, named = CallLimit(left=TOPIC_CALLS), 0
    for topic, question in questions:
        answer = ask_within(ctx, question, limit)
        if answer is None or (answer.generator == OFFLINE and isinstance(provider, AgentProvider)):
            continue
        with ctx.db.write(ctx.space) as tx:
            known = rows.keyed(tx, key_of(answer.value), now=0)
            free = known is None or known.id == topic.id
            if rows.get(tx, topic.id, now=0).named_by == "offline":  # a person may have named it meanwhile
                rename(tx, topic.id, answer.value if free else topic.name, by="model", keep=True)
                named += 1
    return named, len(found) - named
