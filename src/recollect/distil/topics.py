"""Names of topics by a model: one question for each topic that several entries belong to, asked once.

The offline name is the fallback. A name that a person or an agent gave is never asked about.
"""

from __future__ import annotations

import json

from recollect.capture.topics import rename
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput
from recollect.models.ask import OFFLINE, AgentProvider, Ask, ask_within, read_line
from recollect.models.budget import CallLimit
from recollect.store import passages
from recollect.store import topics as rows
from recollect.store.topics import TopicRow
from recollect.text.topics import as_name, key_of, reads_as_name

KIND = "topic"
TITLES = 5  # the first entries tell what a topic is about; later ones would make it a new question
WORDS = 5  # of a name; the prompt asks for four
CALLS = 3  # a cycle; topics come in with the work of a day


def name_question(topic: TopicRow, titles: tuple[str, ...]) -> Ask[str]:
    """The question what a topic should be called."""

    def accept(text: str) -> str:
        name = as_name(read_line(text, words=WORDS).strip("\"'"))
        if not reads_as_name(name):
            raise BadInput("the answer is not a short name")
        return name

    return Ask(
        kind=KIND,
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
    members = [entry for entry, _ in reversed(rows.entries_of(tx, topic.id))][:TITLES]
    return tuple(stored.title for id in members if (stored := passages.by_id(tx, id)))


def reword(ctx: Context) -> tuple[int, int]:
    """Ask for better names; how many topics got an answer, and how many wait."""
    provider = ctx.models.provider(KIND)
    if provider is None:
        return 0, 0
    with ctx.db.read(ctx.space) as tx:
        found = rows.named_offline(tx, least=2, now=ctx.clock.now())
        questions = [(topic, name_question(topic, _titles(tx, topic))) for topic in found[: CALLS * 2]]
    limit, named = CallLimit(left=CALLS), 0
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
