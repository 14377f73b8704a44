"""From a question to the best passages: a bounded number of candidates first, then one score for each.

Candidates are the passages that hold the question's rarest words, those nearest to it in meaning, those that hold a
quoted phrase, and the neighbours of the best of them in their thread. However large the store, a few hundred are
scored, by the learnt weights (`search/learnt.py`). Order is stable: equal scores are ordered by id.
"""

from __future__ import annotations

from math import exp, fsum, log1p

from recollect.core.clock import DAY
from recollect.core.records import record
from recollect.search import learnt, words
from recollect.search.query import holds, person_of
from recollect.store import passages
from recollect.store.lookup import candidates
from recollect.store.passages import Narrow, Ranked
from recollect.text.sentences import is_real
from recollect.text.tokens import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from recollect.core.context import Tx
    from recollect.search.meaning import Meaning
    from recollect.search.query import Question
    from recollect.search.words import Reading

    Features = dict[str, float]
    Keep = Callable[[Sequence[Ranked]], set[str]]
    """Of some passages, the ids of those that may be shown."""
    Prior = Callable[[Ranked], Mapping[str, float]]
    """Signals of a passage that do not depend on the question."""

FEW = 5_000  # candidates looked at in the end; of so many passages the wanted ones are looked for among those alone
WALK = 100  # candidates in a portion
STEPS = (-2, -1, 1, 2)  # from a passage to those around it in its thread
NOBODY = (None, None, None, None)
MONTH = 31 * DAY  # after the time a question names: people tell of things later
AGES = 10.0  # recency falls with the logarithm of days: 1 today, 0.4 after a year, 0 after sixty
EVERYTHING = Narrow()
NODE = "node"
SAID = "log"
TOGETHER = 3  # passages of a thread that speak for it together
LONG = 8  # terms above which a question is long: then the share of it that a passage holds tells more
FAINT = 0.09  # nearness (a cosine of 0.3) below which meaning alone is not a hit

# Set by hand, for no set has questions that show them; a full match of words is worth about ten.
TIME = 1.2  # said in the time that the question names
DATED = 6.0  # … a note written then, since notes are not written later
LATER = 0.6  # … or in the month after
COPY = -3.0  # a node repeats what entries say, so the entry comes first
PHRASE = 15.0  # more than all of the above together: what is quoted is found first
ID = 50.0  # more than a phrase: who names an id wants that text


@record
class Effort:
    """How far a search goes before it ranks."""

    pool: int = 40  # candidates that are scored (with their neighbours; measured in docs/experiments.md)
    alone: int = 30  # … where none is in a thread, so that no neighbour lends it words
    walked: int = 500  # candidates looked at for that many which may be shown, before it is looked for them alone
    neighbours_of: int = 15  # of the best candidates, so many have their neighbours read


THOROUGH = Effort()
GLANCE = Effort(pool=20, alone=20, walked=100, neighbours_of=0)
"""For a ring that a prompt reads beside its project."""


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
    """A passage with its score, what it is made of, and the probability that it is what the question wants."""

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
    meaning_share: float = 0.5,
    span: Span | None = None,
    prior: Prior | None = None,
    now: int | None = None,
    effort: Effort = THOROUGH,
) -> list[Scored]:
    """The `limit` best passages. `now` lets recent ones gain; `meaning_share` is the part of meaning beside words."""
    found, features = look(tx, question, among, limit=limit, meaning=meaning, now=now, effort=effort)
    learned = learnt.WITH_MEANING if meaning else learnt.WORDS
    weights = learned
    if meaning and not meaning.beside_words:
        weights = {"closeness": (1.0, 1.0)}
    elif meaning_share != 0.5:
        share = {True: 2 * meaning_share, False: 2 * (1 - meaning_share)}
        weights = {name: (share[name in learnt.BY_MEANING] * one, share[name in learnt.BY_MEANING] * other)
                   for name, (one, other) in learned.items()}  # fmt: skip
    # In a long text quotes are no request for just these words: a task quotes messages and names.
    phrase = PHRASE if len({*question.query.weights}.difference(*map(terms, question.phrases))) <= LONG else 0.0

    def others(one: Ranked, own: Features) -> dict[str, float]:
        """The signals whose weights are set by hand, those that say something."""
        made = {"id": ID} if one.id in question.ids else {}
        if own["phrase"]:
            made["phrase"] = phrase
        if prior:
            made |= prior(one)
        if span:
            made["time"] = _time(one, span)
        if one.kind == NODE:
            made["copy"] = COPY
        return made

    points = _weighed(features, learned)
    scores = points if weights is learned else _weighed(features, weights)
    scored = []
    for doc, own in features.items():
        one = found[doc]
        if own["words"] or own["closeness"] >= FAINT or one.id in question.ids:
            scored.append((-round(sum(others(one, own).values(), scores[doc]), 9), one.id, doc))
    scored.sort()
    leading = sorted(points.values(), reverse=True)
    return [
        Scored(
            passage=found[doc],
            score=-negative,
            relevance=probability(features[doc] | standing(points[doc], leading), with_meaning=meaning is not None),
            signals=_parts(features[doc], weights) | others(found[doc], features[doc]),
        )
        for negative, _, doc in scored[:limit]
    ]


def _weighed(features: Mapping[int, Features], weights: Mapping[str, tuple[float, float]]) -> dict[int, float]:
    """The learnt score of each passage. Those in a thread have weights of their own."""
    alone, threaded = ([(name, pair[place]) for name, pair in weights.items()] for place in (0, 1))
    return {
        doc: sum([weight * own[name] for name, weight in (alone if own["alone"] else threaded)])
        for doc, own in features.items()
    }


def _parts(own: Features, weights: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """What each learnt signal adds to a score."""
    place = 0 if own["alone"] else 1
    return {"meaning" if name == "closeness" else name: pair[place] * own[name] for name, pair in weights.items()}


def standing(points: float, leading: Sequence[float]) -> Features:
    """A passage's score, and how far ahead it is of the fourth and the tenth best.

    With fewer candidates, half of the best score takes the place of the missing one.
    """
    fourth, tenth = (leading[place - 1] if len(leading) >= place else leading[0] / 2 for place in (4, 10))
    return {"score": points, "ahead": points - fourth, "far_ahead": points - tenth}


def probability(own: Features, *, with_meaning: bool) -> float:
    """How likely a passage is what the question wants, from the same signals: what a floor can be set on."""
    base, weights = learnt.FLOOR_WITH_MEANING if with_meaning else learnt.FLOOR
    return 1 / (1 + exp(-base - fsum([weight * own[name] for name, weight in weights.items()])))


def look(
    tx: Tx,
    question: Question,
    among: Candidates = ALL,
    *,
    limit: int,
    meaning: Meaning | None = None,
    now: int | None = None,
    effort: Effort = THOROUGH,
) -> tuple[dict[int, Ranked], dict[int, Features]]:
    """The candidates, and the signals of each before they are weighed. The training reads them here too."""
    docs = [own.doc for id in question.ids if (own := passages.by_id(tx, id))]
    cited = passages.ranked(tx, docs, among.wanted)
    found = {one.doc: one for one in (*cited, *_gathered(tx, question, among, limit, meaning, effort))}
    readings = {doc: _read(one, question) for doc, one in found.items()}
    plain = {doc: words.plain(reading, question) for doc, reading in readings.items()}
    closeness = meaning.closeness(tx, list(found)) if meaning else {}
    if effort.neighbours_of and any(one.thread for one in found.values()):
        for one in _neighbours(tx, found, plain, closeness, among, effort):
            found[one.doc] = one
            readings[one.doc] = _read(one, question)
            plain[one.doc] = words.plain(readings[one.doc], question)
        if meaning:
            closeness |= meaning.closeness(tx, [doc for doc in found if doc not in closeness])
    places = {(one.thread, one.position): doc for doc, one in found.items() if one.thread}
    top = max(plain.values(), default=0.0) or 1.0
    threads: dict[str, list[float]] = {}
    for doc, one in found.items():
        threads.setdefault(one.thread or one.id, []).append(plain[doc])
    # What a thread says of the question: its best passage, and its three best together.
    tops = {thread: max(some) for thread, some in threads.items()}
    sums = {thread: fsum(sorted(some)[-TOGETHER:]) for thread, some in threads.items()}
    most = max(sums.values(), default=0.0) or 1.0
    around = {doc: [places.get((one.thread, one.position + step)) for step in STEPS] if one.thread else NOBODY
              for doc, one in found.items()}  # fmt: skip
    shares = {doc: words.share(readings[doc], question, _beside(near, readings)) for doc, near in around.items()}
    full = max(shares.values(), default=0.0) or 1.0
    texts = passages.texts_of(tx, list(found)) if question.person or question.phrases else {}
    # A passage that has no vectors yet counts as near as the others are on average.
    unknown = tuple(fsum(some) / len(closeness) for some in zip(*closeness.values(), strict=True)) or (0.0, 0.0)
    nearest = max((near for near, _ in closeness.values()), default=0.0) or 1.0
    whole = fsum(question.query.weights.values()) or 1.0
    long, asked = len(question.query.weights) > LONG, log1p(len(question.query.weights))
    known, familiar = _at_home(question)
    features = {}
    for doc, one in found.items():
        reading, share, text = readings[doc], shares[doc], texts.get(doc, "")
        _, before, after, _ = around[doc]
        alone = not one.thread or (one.position <= 1 and after is None)
        near, close = closeness.get(doc, unknown)
        held = reading.held / whole
        features[doc] = {
            "alone": float(alone),
            "words": share,
            "best": share / full,
            "plain": plain[doc],
            "held": held,
            "long": held if long else 0.0,
            "rarest": reading.rarest,
            "matched": reading.matched,
            "asked": asked,
            "known": known,
            "familiar": familiar,
            "title": reading.headed / whole,
            "titled": reading.titled,
            "label": float(reading.named),
            "thread": tops[one.thread or one.id] / top,
            "session": sums[one.thread or one.id] / most,
            "beside": max([plain[doc] for doc in (before, after) if doc is not None], default=0.0) / top,
            # Only outside a thread: turns of a talk are long or short by who speaks, and old by when it was imported.
            "length": log1p(reading.length) if alone else 0.0,
            "recency": 1 - log1p(max(0, now - one.at) // DAY) / AGES if now is not None and alone else 0.0,
            "person": question.person * person_of(text) if question.person and not is_real(one.title) else 0.0,
            "opening": 1 / one.position if not alone and _is_turn(one) else 0.0,
            "closeness": near,
            "whole": close,
            "meaning": near / nearest,
            "phrase": float(any(holds(one.title, phrase) or holds(text, phrase) for phrase in question.phrases)),
        }
    return found, features


def _at_home(question: Question) -> tuple[float, float]:
    """Whether a question is about what the memory is about: the share of it that is known, and how common its words
    are."""
    query = question.query
    counts = {term: docs for term in query.weights if (docs := query.docs.get(term))}
    common = fsum(map(log1p, counts.values())) / (log1p(query.total) * (len(query.weights) or 1))
    return fsum([query.weights[term] for term in counts]) / (fsum(query.weights.values()) or 1.0), common


def _gathered(
    tx: Tx, question: Question, among: Candidates, limit: int, meaning: Meaning | None, effort: Effort
) -> Iterable[Ranked]:
    pool, alone = max(effort.pool, limit), max(effort.alone, limit)
    by_words = not meaning or meaning.beside_words
    portions = looked_up(tx, question, among.wanted, limit=limit, effort=effort, by_words=by_words)
    more = pool if question.phrases else 0  # what holds a phrase takes no place from what holds the words
    yield from _passing(tx, portions if among.docs is None else [among.docs], pool + more, alone + more, among)
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
    if not by_words:
        yield phrased
        return
    docs = list(dict.fromkeys((*phrased, *candidates(tx, question.query, most=effort.walked))))
    yield from _portions(docs)
    if len(docs) >= effort.walked:
        few = passages.few(tx, wanted, most=FEW) if wanted != EVERYTHING else None
        seen = set(docs)
        yield from _portions([doc for doc in candidates(tx, question.query, most=FEW, among=few) if doc not in seen])


def _portions(docs: Sequence[int]) -> Iterator[Sequence[int]]:
    return (docs[start : start + WALK] for start in range(0, len(docs), WALK))


def _passing(tx: Tx, portions: Iterable[Sequence[int]], pool: int, alone: int, among: Candidates) -> list[Ranked]:
    """The first candidates that may be shown: `pool` of a portion, or `alone` where none is in a thread."""
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
    """Passages that hold all words of a quoted phrase, side by side or not."""
    docs: dict[int, None] = {}
    for phrase in question.phrases:
        wanted = [term for term in dict.fromkeys(terms(phrase)) if question.query.docs.get(term)]
        if wanted:
            smallest, *others = sorted((sorted({*one, *other}) for one, other in tx.match(wanted)), key=len)
            docs |= dict.fromkeys(sorted(set(smallest[:walked]).intersection(*others)))
    return list(docs)[:pool]


def _read(one: Ranked, question: Question) -> Reading:
    return words.read(one.terms, question, title=one.title, end=one.end)


def _neighbours(
    tx: Tx,
    found: Mapping[int, Ranked],
    plain: Mapping[int, float],
    closeness: Mapping[int, tuple[float, float]],
    among: Candidates,
    effort: Effort,
) -> list[Ranked]:
    """The neighbours of the best candidates: they lend them words, and may be the answer themselves."""
    worth = {doc: said + closeness[doc][0] if doc in closeness else said for doc, said in plain.items()}
    order = sorted(found, key=lambda doc: (-worth[doc], found[doc].id))
    leading = (found[doc] for doc in order[: effort.neighbours_of])
    stretches = _stretches((one.thread, one.position) for one in leading if one.thread and one.position)
    return among.kept([one for one in passages.beside(tx, stretches, among.wanted) if one.doc not in found])


def _stretches(places: Iterable[tuple[str, int]]) -> list[tuple[str, int, int]]:
    """The places up to two steps from some places, as stretches of threads."""
    made: list[tuple[str, int, int]] = []
    for thread, position in sorted(places):
        first, last = position - 2, position + 2
        if made and made[-1][0] == thread and first <= made[-1][2] + 1:
            first = made.pop()[1]
        made.append((thread, first, last))
    return made


def _beside(around: Sequence[int | None], readings: Mapping[int, Reading]) -> list[tuple[int, Reading]]:
    """The neighbours that hold words of the question, with their distance."""
    return [
        (step, readings[doc]) for step, doc in zip(STEPS, around, strict=True) if doc is not None and readings[doc].body
    ]


def _time(one: Ranked, span: Span) -> float:
    if one.at < span.since:
        return 0.0
    if one.at < span.until:
        return TIME if _is_turn(one) else DATED
    return LATER if one.at < span.until + MONTH else 0.0


def _is_turn(one: Ranked) -> bool:
    """Whether a passage has its place in a conversation (`log/DAY/SESSION`); entries of a mere day have no opening."""
    return one.kind == SAID and one.position > 0 and one.thread.count("/") > 1 and not is_real(one.title)
