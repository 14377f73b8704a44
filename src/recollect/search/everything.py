"""One search over everything remembered, in a project and its rings; also which ring an id belongs to.

A hit is short and has an id; `get` shows all of it and its neighbours. Filters of learnings (confidence, outcome,
domain, status) do not touch other kinds. An id that is random (of a learning, a decision) is the same in every ring;
one that names a place has its ring in front of it: `me:log/2026-03-01#3`. Searching changes nothing.
"""

from __future__ import annotations

from functools import partial
from heapq import merge
from itertools import count, islice

from recollect.core.choices import STATUSES, Trust
from recollect.core.clock import day_of, zone_named
from recollect.core.context import FARTHER, PROJECT
from recollect.core.errors import BadInput
from recollect.core.learning import COIA, Learning
from recollect.core.records import check_choice, check_page, noun_of, record, replace, thousandths
from recollect.search import rank, words
from recollect.search.hits import NODE, answer_of, snippet_of, without_copies
from recollect.search.query import Question, ask
from recollect.search.rank import Candidates, Scored
from recollect.store import decisions, passages, topics
from recollect.store import learnings as rows
from recollect.store.db import tags_of
from recollect.store.learnings import Filter
from recollect.store.passages import Narrow, Ranked
from recollect.text.sentences import matched_words
from recollect.text.tokens import terms
from recollect.text.topics import key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import date

    from recollect.core.context import Context, Tx
    from recollect.core.decision import Decision
    from recollect.text.dates import Span

KINDS = ("learning", "log", "node", "decision", "theme", "finding", "staged", "doc")
WRITTEN = ("learning", "log", "decision", "finding", "staged")
NARROWING = ("kinds", "trusts", "since", "until", "tag", "topic", "domain", "exclude_outcome")
STRATEGIES = ("hybrid", "bm25", "semantic")
TRUSTS = ("human", "agent", "external")
HEADER = ("title", "who", "tags")
PAGE = 30  # hits that are ranked at least, which a search scores anyway
COPIES = 10  # nodes among the hits that may repeat others
PORTION = 100  # passages read at once when the latest are listed
OWN_WORDS = 2  # of a query that are all in a learning ask for that learning; chosen
CONFIDENCE = 0.15  # what full confidence adds to a score: it breaks ties


@record
class SearchOptions:
    """What a search may be narrowed by; None takes the setting's default.

    `since` and `until` (inclusive) are days, times, or words such as "last week". `topic`, an id or a name, asks for
    its log entries; `domain`, and any status but active, for learnings only; `tag` for learnings and decisions.
    """

    min_confidence: float | None = None
    limit: int | None = None
    offset: int = 0
    tag: str | None = None
    exclude_outcome: str | None = None
    domain: str | None = None
    status: str = "active"
    kinds: tuple[str, ...] = ()
    trusts: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    topic: str | None = None
    strategy: str = "hybrid"
    semantic_weight: float | None = None
    recency: bool = True
    confidence: bool = True
    explain: bool = False


@record
class Hit:
    """What was found, where its words matched, what it answers, and the words around the match.

    `marked` are the matched words as the shown lines write them. `ring` is `project`, `me` (the person's own), or the
    name of a shared space. `relevance` is the probability that it is what the question wants; `out_of_use` says why a
    learning or decision no longer holds. `topic` is what a log entry is about. `signals`, when asked for, say what each
    added to the score.
    """

    id: str
    kind: str
    title: str
    score: float
    relevance: float
    matched_fields: tuple[str, ...]
    marked: tuple[str, ...]
    answer: str
    snippet: str
    at: int
    trust: Trust
    out_of_use: str
    learning: Learning | None
    signals: dict[str, float] | None
    topic: str = ""
    ring: str = PROJECT

    @property
    def lines(self) -> tuple[str, ...]:
        """What to show below the title, each thing once."""
        around = self.snippet.removeprefix("- outcome: ").removeprefix("- request: ")
        said = dict.fromkeys((self.answer, around if self.matched_fields or not self.answer else ""))
        return tuple(line for line in said if line and not line.startswith(self.title.rstrip("…. ")))


def search(ctx: Context, query: str, options: SearchOptions = SearchOptions()) -> list[Hit]:  # noqa: B008
    """The best passages of any kind for a text; for an empty one what was written latest, newest first, for
    one that names only a time what was written then."""
    wanted = _checked(ctx, options)
    limit = ctx.settings.search.limit if options.limit is None else options.limit
    check_page(limit, options.offset)
    then = _only_time(ctx, query)
    least = ctx.settings.search.min_confidence if options.min_confidence is None else options.min_confidence
    learnings = _filter(options, None if options.status == "all" else options.status, least)
    share = {"bm25": 0.0, "semantic": 1.0}.get(options.strategy, options.semantic_weight)
    meaning = None
    if share != 0 and query.strip():
        from recollect.search.meaning import meaning_of  # not on the hook's way

        meaning = meaning_of(ctx, query, required=share == 1)
    confidences: dict[str, int] = {}
    now = ctx.clock.now()
    with ctx.db.read(ctx.space, searching=True) as tx:
        question = ask(tx, query, today=day_of(now, zone_named(ctx.settings.timezone)))

        def passing(some: Sequence[Ranked]) -> set[str]:
            """Drop learnings that their filter holds back, and what lacks the tag.

            One that fell below the default bar is still found by two of its own words, or its whole title.
            """
            let_through = rows.passing(tx, [one.id for one in some if one.kind == rows.KIND], learnings)
            asked = question.terms
            if options.min_confidence is None and asked:
                many = len(asked) >= OWN_WORDS
                own = [one for one in some if (many and asked <= {*one.terms.split()}) or asked >= {*terms(one.title)}]
                said = [one.id for one in own if one.kind == rows.KIND]
                let_through |= rows.passing(tx, said, replace(learnings, min_confidence=0))
            confidences.update(let_through)
            ids = {one.id for one in some if one.kind != rows.KIND or one.id in let_through}
            if options.tag is None:
                return ids
            tags = [tags_of(tx, kind, sorted(ids)) for kind in (rows.KIND, decisions.KIND)]
            return {id for found in tags for id, given in found.items() if options.tag.strip().lower() in given}

        def prior(one: Ranked) -> dict[str, float]:
            if not options.confidence or one.id not in confidences:
                return {}
            return {"confidence": CONFIDENCE * confidences[one.id] / 1000}

        if then or not query.strip():
            latest = _latest(tx, _within(wanted, then) if then else wanted, passing)
            listed = list(islice(latest, options.offset, options.offset + limit))
            if listed or options.offset or not then:
                return shown(tx, question, listed)
        question = replace(question, ids=_named(tx, question.ids, options))
        span = _instants(ctx, question.span) if question.span else None

        def best(wanted: Narrow, size: int) -> list[Scored]:
            return rank.best(
                tx,
                question,
                Candidates(wanted=wanted, keep=passing),
                limit=size,
                meaning=meaning,
                meaning_share=0.5 if share is None or meaning is None else share,
                span=span,
                prior=prior,
                now=now if options.recency else None,
            )

        def scored(size: int) -> list[Scored]:
            found = best(wanted, size)
            if span is None:
                return found
            # What is from then may be too few among all that hold the words.
            both = {hit.passage.doc: hit for hit in (*best(_within(wanted, span), size), *found)}
            return sorted(both.values(), key=lambda hit: (-hit.score, hit.passage.id))[:size]

        end = options.offset + limit
        kept = list if NODE in options.kinds else partial(without_copies, question)
        listed = _listed(scored, end, size=max(PAGE, limit + COPIES), kept=kept)
        return shown(tx, question, listed[options.offset : end], explain=options.explain)


def _listed(
    scored: Callable[[int], list[Scored]], end: int, *, size: int, kept: Callable[[Iterable[Scored]], list[Scored]]
) -> list[Scored]:
    """Hits up to `end`. What a larger search finds comes after the first `size`, so that no page repeats another."""
    found: dict[int, Scored] = {}
    while True:
        more = scored(size)
        for hit in more:
            found.setdefault(hit.passage.doc, hit)
        listed = kept(found.values())
        if len(listed) >= end or len(more) < size:
            return listed
        size *= 2


def _latest(tx: Tx, wanted: Narrow, passing: rank.Keep) -> Iterator[Scored]:
    """What was written, newest first, without what is made from it."""
    wanted = replace(wanted, kinds=wanted.kinds or WRITTEN)
    for offset in count(step=PORTION):
        portion = passages.latest(tx, wanted, limit=PORTION, offset=offset)
        allowed = passing(portion)
        yield from (Scored(passage=one, score=0.0, relevance=0.0, signals={}) for one in portion if one.id in allowed)
        if len(portion) < PORTION:
            return


def nothing_found(query: str, used: Sequence[str] = ()) -> str:
    """What to tell who found nothing; `used` are the filters that were given, as the caller calls them."""
    said = f"Nothing found for {query!r}." if query.strip() else "Nothing found."
    return f"{said} Try {'fewer or other words' if query.strip() else 'another time'}" + (
        f", or leave out {', '.join(used)}." if used else "."
    )


def _instants(ctx: Context, days: Span) -> rank.Span:
    return rank.Span(since=_midnight(ctx, days[0]), until=_midnight(ctx, days[1], days=1))


def _only_time(ctx: Context, query: str) -> rank.Span | None:
    """The time of a query that asks for nothing else: "yesterday", "what happened last week?"."""
    from recollect.text.dates import span_alone

    days = span_alone(query, day_of(ctx.clock.now(), zone_named(ctx.settings.timezone)))
    return _instants(ctx, days) if days else None


def _within(wanted: Narrow, span: rank.Span) -> Narrow:
    since = span.since if wanted.since is None else max(wanted.since, span.since)
    until = span.until if wanted.until is None else min(wanted.until, span.until)
    return replace(wanted, since=since, until=until)


def _named(tx: Tx, ids: Sequence[str], options: SearchOptions) -> tuple[str, ...]:
    """The ids in a question that may come first: of any status, unless the caller asked for one."""
    status = None if options.status in ("active", "all") else options.status
    asked = _filter(options, status, options.min_confidence or 0.0)
    passing = rows.passing(tx, [id for id in ids if noun_of(id) == rows.KIND], asked)
    return tuple(id for id in ids if noun_of(id) != rows.KIND or id in passing)


def shown(tx: Tx, question: Question, scored: Sequence[Scored], *, explain: bool = False) -> list[Hit]:
    texts = passages.texts_of(tx, [hit.passage.doc for hit in scored])
    records: dict[str, Learning | Decision] = {}
    for noun in (rows, decisions):
        found = noun.many(tx, [hit.passage.id for hit in scored if hit.passage.kind == noun.KIND])
        records.update((each.id, each) for each in found)
    about = topics.of_entries(tx, [hit.passage.id for hit in scored if hit.passage.kind == "log"], now=0)
    named = {id: ", ".join(topic.name for topic in found) for id, found in about.items()}
    return [
        _hit(hit, question, texts[hit.passage.doc], records.get(hit.passage.id), named.get(hit.passage.id, ""), explain)
        for hit in scored
    ]


def _hit(
    hit: Scored, question: Question, text: str, record: Learning | Decision | None, topic: str, explain: bool
) -> Hit:
    one = hit.passage
    learning = record if isinstance(record, Learning) else None
    matched, _ = words.matched(one.terms, question)
    names = COIA if learning else tuple("text" for _ in text.split("\n"))
    fields = dict.fromkeys((*HEADER, *names)[number] for number in matched)
    answer = answer_of(text, record, question.terms)
    around = snippet_of(one.title, text, one.terms, question.terms)
    return Hit(
        id=one.id,
        kind=one.kind,
        title=one.title,
        score=round(hit.score, 4),
        relevance=round(hit.relevance, 4),
        matched_fields=tuple(fields),
        marked=tuple(dict.fromkeys(matched_words(f"{one.title}\n{answer}\n{around}", question.terms))),
        answer=answer,
        snippet=around,
        at=one.at,
        trust=one.trust,
        out_of_use=record.out_of_use if record else "",
        learning=learning,
        signals={name: part for name, part in hit.signals.items() if part} if explain else None,
        topic=topic,
    )


def _checked(ctx: Context, options: SearchOptions) -> Narrow:
    _known("strategy", (options.strategy,), STRATEGIES)
    _known("kind", options.kinds, KINDS)
    _known("trust", options.trusts, TRUSTS)
    check_choice(options.status, "status", (*STATUSES, "all"))
    share = options.semantic_weight
    if share is not None and (isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1):
        raise BadInput(f"semantic weight must be between 0 and 1, not {share!r:.40}")
    kinds = options.kinds
    if not kinds and options.tag is not None:
        kinds = (rows.KIND, decisions.KIND)
    if not kinds and (options.domain is not None or options.status != "active"):
        kinds = (rows.KIND,)
    return Narrow(
        kinds=tuple(kinds),
        trusts=tuple(options.trusts),
        since=_moment(ctx, options.since, "since"),
        until=_moment(ctx, options.until, "until"),
        topic=ctx.read(topics.found, options.topic, key_of(options.topic), now=ctx.clock.now()).id
        if options.topic
        else "",
    )


def _known(name: str, given: Sequence[str], known: Sequence[str]) -> None:
    if isinstance(given, str):
        raise BadInput(f"give each {name} as a member of a list or tuple: ({given!r:.40},)")
    for one in given:
        check_choice(one, name, known)


def _filter(options: SearchOptions, status: str | None, least: float) -> Filter:
    return Filter(
        status=status,
        domain=options.domain,
        min_confidence=thousandths(least, "min confidence"),
        exclude_outcome=options.exclude_outcome,
    )


def _moment(ctx: Context, given: str | None, name: str) -> int | None:
    """A day is its midnight in the project's zone, as an end the midnight after it; a time is what it says."""
    if given is None:
        return None
    from recollect.core.clock import parse_time
    from recollect.text.dates import span_of

    named = None
    if isinstance(given, str):
        if "T" in given or ":" in given:
            return parse_time(given)
        named = span_of(given, day_of(ctx.clock.now(), zone_named(ctx.settings.timezone)))
    if named is None:
        known = "a day such as 2026-03-01, a time, or words such as yesterday, last week or 2w"
        raise BadInput(f"{name} must be {known}, not {given!r:.40}")
    return _midnight(ctx, named[name == "until"], days=name == "until")


def _midnight(ctx: Context, day: date, *, days: int = 0) -> int:
    from datetime import datetime, time, timedelta

    moment = datetime.combine(day + timedelta(days), time(0), zone_named(ctx.settings.timezone))
    return round(moment.timestamp() * 1000)


_RANDOM = {rows.KIND: rows.many, decisions.KIND: decisions.many}


def search_rings(ctx: Context, query: str, options: SearchOptions) -> list[Hit]:
    """The hits of the project and its rings. Those of one ring keep their order; a learning of the project's is
    not repeated."""
    if not ctx.rings.names:
        return search(ctx, query, options)
    limit = ctx.settings.search.limit if options.limit is None else options.limit
    whole = replace(options, limit=options.offset + limit, offset=0)
    rings = [(PROJECT, search(ctx, query, whole))]
    rings += ctx.rings.ask(ctx, lambda ring: search(ring, query, whole))
    far = {name: FARTHER**step for step, (name, _) in enumerate(rings)}
    hits = [[replace(hit, ring=name, id=id_in(name, hit.id)) for hit in found] for name, found in rings]
    known = {hit.title for hit in hits[0] if hit.learning}
    by_time = not query.strip() or _only_time(ctx, query)

    def order(hit: Hit) -> float:
        return -hit.at if by_time else -hit.relevance * far[hit.ring]

    others = [[hit for hit in found if not hit.learning or hit.title not in known] for found in hits[1:]]
    listed = list(merge(hits[0], *others, key=order))
    return listed[options.offset : options.offset + limit]


def id_in(ring: str, id: str) -> str:
    """The id by which a thing of a ring is found from here."""
    return id if ring == PROJECT or noun_of(id) in _RANDOM else f"{ring}:{id}"


def holder(ctx: Context, id: str) -> tuple[str, str]:
    """The ring that has an id, and the id there; the project for what no ring has."""
    name, colon, bare = id.partition(":")
    if colon and name in (PROJECT, *ctx.rings.names):
        return name, bare
    many = _RANDOM.get(noun_of(id))
    if many is None or not ctx.rings.names or ctx.read(many, [id]):
        return PROJECT, id
    having = [name for name, found in ctx.rings.ask(ctx, lambda ring: ring.read(many, [id])) if found]
    return (having or [PROJECT])[0], id
