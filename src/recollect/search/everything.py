"""One search over everything remembered: what may be asked for, what is found, and how a hit is shown.

A hit is short and has an id; `get` shows all of it and its neighbours. Filters of learnings (confidence, outcome,
domain, status) do not touch other kinds. Searching changes nothing. Knows nothing about how candidates are ranked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.core.choices import STATUSES, Trust
from recollect.core.clock import DAY
from recollect.core.errors import BadInput
from recollect.core.learning import COIA, Learning
from recollect.core.records import check_limit, record
from recollect.core.values import thousandths
from recollect.search import rank, words
from recollect.search.query import Question, ask
from recollect.search.rank import Candidates
from recollect.search.words import Score
from recollect.store import decisions, passages
from recollect.store import learnings as rows
from recollect.store.db import HEADER_LINES
from recollect.store.learnings import Filter
from recollect.store.passages import Narrow, Ranked
from recollect.text.sentences import snippet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from recollect.core.context import Context, Tx
    from recollect.core.decision import Decision
    from recollect.search.meaning import Meaning
    from recollect.search.rank import Scored

KINDS = ("learning", "log", "node", "decision", "theme", "finding", "staged", "doc")
STRATEGIES = ("hybrid", "bm25", "semantic")
TRUSTS = ("human", "agent", "external")
HEADER = ("title", "who", "tags")
_LEARNING = "learn_"
KEYWORDS = 2  # terms up to which a query looks words up
HALF_LIFE = 90  # days after which recency counts half; chosen, its weight of 0.05 only breaks ties


@record
class SearchOptions:
    """What a search may be narrowed by; None takes the setting's default.

    `since` and `until` are days or times; a day as `until` is included. `domain`, and any status but active, ask for
    learnings only.
    """

    min_confidence: float | None = None
    limit: int | None = None
    exclude_outcome: str | None = None
    domain: str | None = None
    status: str = "active"
    kinds: tuple[str, ...] = ()
    trusts: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    strategy: str = "hybrid"
    semantic_weight: float | None = None
    recency: bool = True
    confidence: bool = True
    explain: bool = False


@record
class Hit:
    """What was found: how well it fits, where its words matched, and the words around the match.

    `relevance` is the share of a full match its own words are; `out_of_use` says why not to rely on a learning or a
    decision any more. `signals` are what the score is made of, when asked for.
    """

    id: str
    kind: str
    title: str
    score: float
    relevance: float
    matched_fields: tuple[str, ...]
    snippet: str
    at: int
    trust: Trust
    out_of_use: str
    learning: Learning | None
    signals: Score | None


def search(ctx: Context, query: str, options: SearchOptions = SearchOptions()) -> list[Hit]:  # noqa: B008
    """The best passages of any kind for a text."""
    wanted, limit = _checked(ctx, options), _limit(ctx, options)
    learnings = _learnings(ctx, options)
    share = {"bm25": 0.0, "semantic": 1.0}.get(options.strategy, options.semantic_weight)
    meaning = None if share == 0 else _meaning(ctx, query, required=share == 1)
    weights = words.DEFAULT_WEIGHTS
    if share is not None and meaning is not None and meaning.beside_words:
        weights = words.balanced_weights(weights, share)
    confidences: dict[str, int] = {}
    now = ctx.clock.now()
    with ctx.db.read(ctx.space) as tx:

        def passing(some: Sequence[Ranked]) -> set[str]:
            """Everything but the learnings that a filter of learnings holds back."""
            let_through = rows.passing(tx, [one.id for one in some if one.kind == rows.KIND], learnings)
            confidences.update(let_through)
            return {one.id for one in some if one.kind != rows.KIND or one.id in let_through}

        question = ask(tx, query, today=_today(ctx))
        question = Question(**{**vars(question), "ids": _named(tx, question.ids, options)})
        span = _instants(ctx, question)
        if len(question.terms) <= KEYWORDS:
            weights = words.keyword_weights(weights)

        def best(wanted: Narrow) -> list[Scored]:
            return rank.best(
                tx,
                question,
                Candidates(wanted=wanted, keep=passing),
                limit=limit,
                meaning=meaning,
                span=span,
                prior=lambda one: _prior(one, confidences, now, options),
                weights=weights,
            )

        scored = best(wanted)
        if span is not None:  # what is from then may be too few among all that hold the words
            scored = _merged(scored, best(_within(wanted, span)))[:limit]
        return shown(tx, question, scored, explain=options.explain)


def _within(wanted: Narrow, span: rank.Span) -> Narrow:
    since = span.since if wanted.since is None else max(wanted.since, span.since)
    until = span.until if wanted.until is None else min(wanted.until, span.until)
    return Narrow(kinds=wanted.kinds, trusts=wanted.trusts, since=since, until=until)


def _merged(some: Sequence[Scored], others: Sequence[Scored]) -> list[Scored]:
    found = {hit.passage.doc: hit for hit in (*others, *some)}
    return sorted(found.values(), key=lambda hit: (-hit.score, hit.passage.id))


def _named(tx: Tx, ids: Sequence[str], options: SearchOptions) -> tuple[str, ...]:
    """Of the ids in a question those that may come first: of any status, but what the caller asked for holds."""
    asked = Filter(
        status=None if options.status in ("active", "all") else options.status,
        domain=options.domain,
        min_confidence=thousandths(options.min_confidence or 0.0, "min confidence"),
        exclude_outcome=options.exclude_outcome,
    )
    passing = rows.passing(tx, [id for id in ids if id.startswith(_LEARNING)], asked)
    return tuple(id for id in ids if not id.startswith(_LEARNING) or id in passing)


def shown(tx: Tx, question: Question, scored: Sequence[Scored], *, explain: bool = False) -> list[Hit]:
    """Scored passages as hits."""
    texts = passages.texts_of(tx, [hit.passage.doc for hit in scored])
    records: dict[str, Learning | Decision] = {}
    for noun in (rows, decisions):
        found = noun.many(tx, [hit.passage.id for hit in scored if hit.passage.kind == noun.KIND])
        records.update((each.id, each) for each in found)
    return [_hit(hit, question, texts[hit.passage.doc], records.get(hit.passage.id), explain) for hit in scored]


def _hit(hit: Scored, question: Question, text: str, record: Learning | Decision | None, explain: bool) -> Hit:
    one = hit.passage
    learning = record if isinstance(record, Learning) else None
    matched, terms = words.matched(one.terms, question)
    lines = text.split("\n")
    bodies = [number - HEADER_LINES for number in matched if number >= HEADER_LINES]
    line = lines[bodies[0]] if bodies else one.title if matched else lines[0] or one.title
    names = COIA if learning else tuple("text" for _ in lines)
    fields = dict.fromkeys((*HEADER, *names)[number] for number in matched)
    return Hit(
        id=one.id,
        kind=one.kind,
        title=one.title,
        score=round(hit.score, 4),
        relevance=round(hit.relevance, 4),
        matched_fields=tuple(fields),
        snippet=snippet(line, frozenset(terms)),
        at=one.at,
        trust=one.trust,
        out_of_use=record.out_of_use if record else "",
        learning=learning,
        signals=Score(**hit.signals) if explain else None,
    )


def _prior(one: Ranked, confidences: Mapping[str, int], now: int, options: SearchOptions) -> dict[str, float]:
    """Signals that do not depend on the question: recency, and the confidence of a learning."""
    made: dict[str, float] = {}
    if options.recency:
        age = max(0, now - one.at) // DAY / HALF_LIFE  # whole days: the order is the same a second later
        made["recency"] = words.DEFAULT_WEIGHTS.recency * 0.5**age
    if options.confidence and one.id in confidences:
        made["confidence"] = words.DEFAULT_WEIGHTS.confidence * confidences[one.id] / 1000
    return made


def _meaning(ctx: Context, query: str, *, required: bool) -> Meaning | None:
    from recollect.search.meaning import meaning_of  # not on the hook's way

    return meaning_of(ctx, query, required=required)


def _limit(ctx: Context, options: SearchOptions) -> int:
    return check_limit(ctx.settings.search.limit if options.limit is None else options.limit)


def _checked(ctx: Context, options: SearchOptions) -> Narrow:
    _known("strategy", (options.strategy,), STRATEGIES)
    _known("kind", options.kinds, KINDS)
    _known("trust", options.trusts, TRUSTS)
    share = options.semantic_weight
    if share is not None and (isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1):
        raise BadInput(f"semantic weight must be between 0 and 1, not {share!r:.40}")
    kinds = options.kinds
    if not kinds and (options.domain is not None or options.status != "active"):
        kinds = (rows.KIND,)
    return Narrow(
        kinds=tuple(kinds),
        trusts=tuple(options.trusts),
        since=_moment(ctx, options.since, "since"),
        until=_moment(ctx, options.until, "until"),
    )


def _known(name: str, given: Sequence[str], known: Sequence[str]) -> None:
    if isinstance(given, str):
        raise BadInput(f"give each {name} as a member of a list or tuple: ({given!r:.40},)")
    for one in given:
        if one not in known:
            raise BadInput(f"{name} must be one of {', '.join(known)}, not {one!r:.40}")


def _learnings(ctx: Context, options: SearchOptions) -> Filter:
    if options.status not in (*STATUSES, "all"):
        raise BadInput(f"status must be one of {', '.join(STATUSES)} or all, not {options.status!r}")
    least = ctx.settings.search.min_confidence if options.min_confidence is None else options.min_confidence
    return Filter(
        status=None if options.status == "all" else options.status,
        domain=options.domain,
        min_confidence=thousandths(least, "min confidence"),
        exclude_outcome=options.exclude_outcome,
    )


def _today(ctx: Context) -> date:
    from recollect.core.clock import day_of, zone_named

    return day_of(ctx.clock.now(), zone_named(ctx.settings.timezone))


def _instants(ctx: Context, question: Question) -> rank.Span | None:
    if question.span is None:
        return None
    first, last = question.span
    return rank.Span(since=_midnight(ctx, first), until=_midnight(ctx, last, days=1))


def _moment(ctx: Context, given: str | None, name: str) -> int | None:
    """A day is its midnight in the project's zone, as an end the midnight after it; a time is what it says."""
    if given is None:
        return None
    from recollect.core.calendar import parse_day
    from recollect.core.clock import parse_time

    if not isinstance(given, str):
        raise BadInput(f"{name} must be a day such as 2026-03-01 or a time, not {given!r:.40}")
    if "T" in given or ":" in given:
        return parse_time(given)
    return _midnight(ctx, parse_day(given), days=name == "until")


def _midnight(ctx: Context, day: date, *, days: int = 0) -> int:
    from datetime import datetime, time, timedelta

    from recollect.core.clock import zone_named

    moment = datetime.combine(day + timedelta(days), time(0), zone_named(ctx.settings.timezone))
    return round(moment.timestamp() * 1000)
