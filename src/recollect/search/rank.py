"""From a question to the best passages: a bounded number of candidates first, then one score for each.

Candidates are the passages that hold the question's rarest words, those nearest to it in meaning, those that hold a
quoted phrase, and what stands beside the best of them in their thread. However large the store, a few hundred are
scored. Order is stable: equal scores are ordered by id. Knows nothing about who asks, nor how a hit is shown.
"""

from __future__ import annotations

from math import fsum

from recollect.core.clock import DAY
from recollect.core.records import record
from recollect.search import words
from recollect.search.query import holds, person_of
from recollect.search.words import DEFAULT_WEIGHTS, RankWeights, pulled
from recollect.store import passages
from recollect.store.lookup import candidates
from recollect.store.passages import Narrow, Ranked
from recollect.text.tokens import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from recollect.core.context import Tx
    from recollect.search.meaning import Meaning
    from recollect.search.query import Question
    from recollect.search.words import Reading

    Keep = Callable[[Sequence[Ranked]], set[str]]
    """Of some passages, the ids of those that may be shown."""
    Prior = Callable[[Ranked], Mapping[str, float]]
    """Signals of a passage that do not depend on the question."""

FEW = 5_000  # candidates looked at in the end; of so many passages the wanted ones are looked for among those alone
WALK = 100  # candidates in a portion
LIFTED_LENGTH = 90  # terms at which a thread lifts a passage half as much
READ = 100  # of the best, so many have their text read
MONTH = 31 * DAY
EVERYTHING = Narrow()
NODE = "node"
SAID = "log"
FAINT = 0.09  # nearness (a cosine of 0.3) below which meaning alone is not a hit


@record
class Effort:
    """How far a search goes before it ranks."""

    pool: int = 60  # candidates that are scored (with their neighbours; measured in docs/experiments.md)
    alone: int = 30  # … where none stands in a thread, so that nothing beside it lends it words
    walked: int = 500  # candidates looked at for that many which may be shown, before it is looked for them alone
    neighbours_of: int = 30  # of the best candidates, so many have their neighbours read


THOROUGH = Effort()
QUICK = Effort(pool=30, walked=300, neighbours_of=0)
"""For a prompt, which waits: the few best, in half the time on 100,000 passages."""


@record
class Candidates:
    """What is ranked: passages that are `wanted` and that `keep` lets through.

    `docs` are candidates that were looked up before, for a caller that ranks several selections of them.
    """

    wanted: Narrow = EVERYTHING
    keep: Keep | None = None
    docs: Sequence[int] | None = None

    def kept(self, some: list[Ranked]) -> list[Ranked]:
        if self.keep is None or not some:
            return some
        allowed = self.keep(some)
        return [one for one in some if one.id in allowed]


ALL = Candidates()


@record
class Scored:
    """A passage with its score, what it is made of, and the share of a full match its own words are."""

    passage: Ranked
    score: float
    relevance: float
    signals: Mapping[str, float]


@record
class Span:
    """A time that the question names, as instants; the last is excluded."""

    since: int
    until: int


def best(
    tx: Tx,
    question: Question,
    among: Candidates = ALL,
    *,
    limit: int,
    meaning: Meaning | None = None,
    span: Span | None = None,
    prior: Prior | None = None,
    weights: RankWeights = DEFAULT_WEIGHTS,
    effort: Effort = THOROUGH,
) -> list[Scored]:
    """The `limit` best passages."""
    named = _by_id(tx, question, among.wanted)
    found = {one.doc: one for one in (*named, *_gathered(tx, question, among, limit, meaning, effort))}
    readings = {doc: _read(one, question) for doc, one in found.items()}
    closeness = meaning.closeness(tx, list(found), weights) if meaning else {}
    if effort.neighbours_of:
        _with_neighbours(tx, question, found, readings, closeness, among, weights, effort)
        if meaning:
            closeness |= meaning.closeness(tx, [doc for doc in found if doc not in closeness], weights)
    places = {(one.thread, one.position): doc for doc, one in found.items() if one.thread}
    shares = {doc: words.share(readings[doc], question, _beside(one, places, readings)) for doc, one in found.items()}
    own = {doc: _own(one, readings[doc], shares[doc], closeness, meaning, weights) for doc, one in found.items()}
    leading = _leading(found, own, max(READ, limit))
    _read_texts(tx, question, [found[doc] for doc in leading], own, weights)
    if places:
        _lift_threads(found, readings, own, weights)
    for one in named:
        own[one.doc]["id"] = weights.id
    scored = []
    for doc in {*leading, *(one.doc for one in named)}:
        signals = own[doc]
        if signals.get("words") or signals["meaning"] >= FAINT * weights.meaning or "id" in signals:
            one = found[doc]
            if prior:
                signals |= prior(one)
            if span:
                signals["time"] = _time(one, span, weights)
            if one.kind == NODE:
                signals["copy"] = weights.copy
            scored.append((-round(fsum(signals.values()), 9), one.id, doc))
    scored.sort()
    return [
        Scored(
            passage=found[doc],
            score=-negative,
            relevance=words.relevance(readings[doc], question),
            signals=own[doc],
        )
        for negative, _, doc in scored[:limit]
    ]


def _by_id(tx: Tx, question: Question, wanted: Narrow) -> list[Ranked]:
    """Passages that the question names by their ids."""
    docs = [found.doc for id in question.ids if (found := passages.by_id(tx, id))]
    return passages.ranked(tx, docs, wanted)


def _gathered(
    tx: Tx, question: Question, among: Candidates, limit: int, meaning: Meaning | None, effort: Effort
) -> Iterable[Ranked]:
    pool, alone = max(effort.pool, limit), max(effort.alone, limit)
    by_words = not meaning or meaning.beside_words
    portions = looked_up(tx, question, among.wanted, limit=limit, effort=effort, by_words=by_words)
    yield from _passing(tx, portions if among.docs is None else [among.docs], pool, alone, among)
    if meaning:
        yield from _passing(tx, [meaning.nearest(tx, among.wanted)], pool, alone, among)


def looked_up(
    tx: Tx, question: Question, wanted: Narrow, *, limit: int = 0, effort: Effort = THOROUGH, by_words: bool = True
) -> Iterator[Sequence[int]]:
    """Candidates that hold a phrase or the rarest words of a question, in portions, the most promising first.

    A caller that may not show most of a portion asks for the next. Some candidates may not be wanted.
    """
    pool = max(effort.pool, limit)
    phrased = _with_phrases(tx, question, pool, effort.walked)
    if phrased:
        yield phrased
    if not by_words:
        return
    seen: set[int] = set()
    if wanted == EVERYTHING:
        first = candidates(tx, question.query, most=pool)
        yield first
        if len(first) < pool:
            return
        seen.update(first)
    docs = candidates(tx, question.query, most=effort.walked)
    yield from _portions(docs, seen)
    if len(docs) == effort.walked:
        few = passages.few(tx, wanted, most=FEW) if wanted != EVERYTHING else None
        yield from _portions(candidates(tx, question.query, most=FEW, among=few), seen)


def _portions(docs: Sequence[int], seen: set[int]) -> Iterator[Sequence[int]]:
    """What was not seen yet, some at a time."""
    fresh = [doc for doc in docs if doc not in seen]
    seen.update(fresh)
    for start in range(0, len(fresh), WALK):
        yield fresh[start : start + WALK]


def _passing(tx: Tx, portions: Iterable[Sequence[int]], pool: int, alone: int, among: Candidates) -> list[Ranked]:
    """The first candidates that may be shown: `pool` of a portion, or `alone` where none stands in a thread."""
    found: list[Ranked] = []
    for docs in portions:
        for start in range(0, len(docs), alone):
            found += among.kept(passages.ranked(tx, docs[start : start + alone], among.wanted))
            if len(found) >= pool or (len(found) >= alone and not any(one.thread for one in found)):
                return found
        if len(found) >= alone:
            return found
    return found


def _with_phrases(tx: Tx, question: Question, pool: int, walked: int) -> list[int]:
    """Passages that hold all words of a quoted phrase; whether they stand together, the text tells."""
    docs: dict[int, None] = {}
    for phrase in question.phrases:
        wanted = [term for term in dict.fromkeys(terms(phrase)) if question.query.docs.get(term)]
        if wanted:
            smallest, *others = sorted((sorted({*one, *other}) for one, other in tx.match(wanted)), key=len)
            docs |= dict.fromkeys(sorted(set(smallest[:walked]).intersection(*others)))
    return list(docs)[:pool]


def _read(one: Ranked, question: Question) -> Reading:
    return words.read(one.terms, question, title=one.title, end=one.end)


def _with_neighbours(
    tx: Tx,
    question: Question,
    found: dict[int, Ranked],
    readings: dict[int, Reading],
    closeness: dict[int, float],
    among: Candidates,
    weights: RankWeights,
    effort: Effort,
) -> None:
    """Add what stands beside the best candidates: it lends them words, and may be what is looked for itself."""
    if not any(one.thread for one in found.values()):
        return
    worth = {doc: words.weight(reading, question) for doc, reading in readings.items()}
    if closeness:
        scale = weights.words / (question.whole or 1.0)
        worth = {doc: scale * said + weights.meaning * closeness.get(doc, 0.0) for doc, said in worth.items()}
    order = sorted(found, key=lambda doc: (-worth[doc], found[doc].id))
    leading = (found[doc] for doc in order[: effort.neighbours_of])
    stretches = _stretches((one.thread, one.position) for one in leading if one.thread and one.position)
    beside = [one for one in passages.beside(tx, stretches, among.wanted) if one.doc not in found]
    for one in among.kept(beside):
        found[one.doc] = one
        readings[one.doc] = _read(one, question)


def _stretches(places: Iterable[tuple[str, int]]) -> list[tuple[str, int, int]]:
    """What stands up to two steps from some places, as stretches of threads."""
    made: list[tuple[str, int, int]] = []
    for thread, position in sorted(places):
        first, last = position - 2, position + 2
        if made and made[-1][0] == thread and first <= made[-1][2] + 1:
            first = made.pop()[1]
        made.append((thread, first, last))
    return made


def _beside(
    one: Ranked, places: Mapping[tuple[str, int], int], readings: Mapping[int, Reading]
) -> Iterable[tuple[int, Reading]]:
    if not one.thread:
        return ()
    near = ((step, places.get((one.thread, one.position + step))) for step in (-2, -1, 1, 2))
    return [(step, readings[doc]) for step, doc in near if doc is not None]


def _own(
    one: Ranked,
    reading: Reading,
    share: float,
    closeness: Mapping[int, float],
    meaning: Meaning | None,
    weights: RankWeights,
) -> dict[str, float]:
    """The signals of a passage by itself."""
    near = closeness.get(one.doc)
    note = near is not None and _is_real(one.title)
    by_meaning = weights.meaning * (near or 0.0) * (weights.titled_meaning if note else 1.0)
    if meaning and not meaning.beside_words:
        return {"meaning": by_meaning}
    return {
        "words": weights.words * share * (weights.titled_words if note else 1.0),
        "title": weights.title * reading.titled if near is None else 0.0,
        "meaning": by_meaning,
        "label": weights.label if reading.named else 0.0,
        "opening": weights.opening / one.position if _is_turn(one) else 0.0,
    }


def _leading(found: Mapping[int, Ranked], own: Mapping[int, dict[str, float]], most: int) -> list[int]:
    if len(own) <= most:
        return list(own)
    return sorted(own, key=lambda doc: (-sum(own[doc].values()), found[doc].id))[:most]


def _read_texts(
    tx: Tx, question: Question, some: Sequence[Ranked], own: dict[int, dict[str, float]], weights: RankWeights
) -> None:
    """The signals for which the text itself must be read."""
    if not question.person and not question.phrases:
        return
    texts = passages.texts_of(tx, [one.doc for one in some])
    for one in some:
        text = texts.get(one.doc, "")
        if question.person and not _is_real(one.title):
            own[one.doc]["person"] = weights.person * question.person * person_of(text)
        if any(holds(f"{one.title}\n{text}", phrase) for phrase in question.phrases):
            own[one.doc]["phrase"] = weights.phrase


def _lift_threads(
    found: Mapping[int, Ranked], readings: Mapping[int, Reading], own: dict[int, dict[str, float]], weights: RankWeights
) -> None:
    tops: dict[str, float] = {}
    totals = {doc: sum(signals.values()) for doc, signals in own.items()}
    for doc, total in totals.items():
        thread = found[doc].thread
        tops[thread] = max(tops.get(thread, total), total)
    for doc, total in totals.items():
        one = found[doc]
        if one.thread and one.position:
            short = words.shortness(readings[doc], LIFTED_LENGTH)
            pull = weights.titled_thread if _is_real(one.title) else weights.thread * short
            own[doc]["thread"] = pulled(total, tops[one.thread], pull)


def _time(one: Ranked, span: Span, weights: RankWeights) -> float:
    if one.at < span.since:
        return 0.0
    if one.at < span.until:
        return weights.time if _is_turn(one) else weights.dated
    return weights.later if one.at < span.until + MONTH else 0.0


def _is_turn(one: Ranked) -> bool:
    """Whether a passage has its place in a conversation (`log/DAY/SESSION`); entries of a mere day have no opening."""
    return one.kind == SAID and one.position > 0 and one.thread.count("/") > 1 and not _is_real(one.title)


def _is_real(title: str) -> bool:
    return len(title.split()) >= words.REAL_TITLE
