"""What an agent marks in its output: discoveries, and verdicts on learnings; and the learning that a discovery states.

`DISCOVERY[type]: text` and `LEARNING_HELPFUL: <id>` count in the agent's own lines only (`text/markdown`). A discovery
is sorted into observation, implication and action by cue words, not by understanding: fields that the text does not
state say in a fixed wording what its type implies, are marked as such and missing from `stated`, so that a filler never
passes for a finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Literal, cast

from recollect.core.choices import DISCOVERY_TYPES, DiscoveryType
from recollect.core.errors import BadInput
from recollect.core.learning import COIA, IMPLIED
from recollect.core.new_learning import FIELD_LIMIT, TITLE_LIMIT
from recollect.core.records import record, says_nothing
from recollect.text import tags
from recollect.text.frame import REPORTS, one_line
from recollect.text.markdown import lazy, own_lines
from recollect.text.sentences import STATE, cut, split_sentences
from recollect.text.tokens import STOP_WORDS

# --- Reading discoveries


@record
class Discoveries:
    """Each (type, text) once, in order. A type that we do not have is named, and its text is taken as `UNTYPED`."""

    discoveries: tuple[tuple[DiscoveryType, str], ...] = ()
    unknown_types: tuple[str, ...] = ()


UNTYPED: DiscoveryType = "decision"  # what a discovery of an unknown type counts as: the most lenient

_MARK = lazy(
    r" {0,3}(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)?(?P<round>`|\*\*|)DISCOVERY ?\[(?P<type>[^\[\]\n]{1,50})\][ \t]*+"
    r"(?:(?P<closed>(?P=round)[ \t]*+:|:(?P=round))|:)[ \t]*+(?P<text>.*+)",
    re.IGNORECASE,
)
_CONTINUED = lazy(r"[ \t]++[^\s]")


def read_discoveries(output: str) -> Discoveries:
    """The `DISCOVERY[type]: text` lines of an output; indented lines below one continue it.

    Tolerated: any case of the keyword and type, a space beside the brackets, a list mark, bold or backticks round the
    mark or the whole. Fenced, quoted and commented lines are not the agent's own, nor are the examples in our own
    instructions.
    """
    if not re.search(r"discovery ?\[", output, re.IGNORECASE):
        return Discoveries()
    marked = [found for found in _marked(output) if found not in REPORTS]
    return Discoveries(
        discoveries=tuple(dict.fromkeys((kind if kind in DISCOVERY_TYPES else UNTYPED, text) for kind, text in marked)),
        unknown_types=tuple(dict.fromkeys(kind for kind, _ in marked if kind not in DISCOVERY_TYPES)),
    )


def without_marks(output: str) -> str:
    """A message without its discoveries and verdicts; all other lines stay as they are."""
    if "DISCOVERY" not in output.upper():
        return without_signals(output)
    own = iter([*own_lines(output), None])
    wanted, kept, marked = next(own), list[str](), False
    for line in output.split("\n"):
        if line != wanted:
            kept.append(line)
            continue
        wanted = next(own)
        marked = bool(_MARK.match(line)) or (marked and bool(_CONTINUED.match(line)))
        kept += [] if marked else [line]
    return without_signals("\n".join(kept))


def without_discoveries(output: str) -> str:
    """The agent's own lines that are part of no marked discovery."""
    rest: list[str] = []
    marked = False
    for line in own_lines(output):
        if _MARK.match(line):
            marked = True
        elif not (marked and _CONTINUED.match(line)):
            marked = False
            rest.append(line)
    return "\n".join(rest)


def _marked(output: str) -> Iterator[tuple[str, str]]:
    begun: re.Match[str] | None = None
    parts: list[str] = []
    for line in chain(own_lines(output), ("",)):
        mark = _MARK.match(line.lstrip() if begun else line)  # in a nested list it may be indented far
        if not mark and begun and _CONTINUED.match(line):
            parts.append(line)
            continue
        if begun and not says_nothing(text := _without_round(one_line(" ".join(parts)), begun)):
            yield one_line(begun["type"]).lower(), text
        begun, parts = mark, [mark["text"]] if mark else []


def _without_round(text: str, mark: re.Match[str]) -> str:
    """The text without what ends the bold or code that its mark began; words after code talk about the mark."""
    round = mark["round"]
    if mark["closed"]:
        return text
    if text.endswith(round):
        return text.removesuffix(round).rstrip()
    return text.replace(round, "", 1) if round == "**" else ""


# --- One discovery as a learning


@record
class Coia:
    """The fields of a learning; `stated` names those that the discovery itself states."""

    title: str
    context: str
    observation: str
    implication: str
    action: str
    tags: tuple[str, ...]
    domain: str | None
    stated: tuple[str, ...] = COIA


Role = Literal["context", "observation", "implication", "action"]

_OBSERVED = f"{IMPLIED}The work showed the need for it."
_IMPLICATION_FILLERS: dict[DiscoveryType, str] = {
    "blocker": f"{IMPLIED}Similar work can run into the same problem.",
    "constraint": f"{IMPLIED}Similar work meets the same limit.",
    "pattern": f"{IMPLIED}The same approach may fit similar work.",
    "decision": f"{IMPLIED}Related work builds on this choice.",
    "dependency": f"{IMPLIED}Related work relies on this.",
}
_ACTION_FILLERS: dict[DiscoveryType, str] = {
    "blocker": f"{IMPLIED}Check for this problem before you start similar work.",
    "constraint": f"{IMPLIED}Plan similar work within this limit.",
    "pattern": f"{IMPLIED}Try the same approach first.",
    "decision": f"{IMPLIED}Keep to this choice while its reason holds.",
    "dependency": f"{IMPLIED}Check that it is available.",
}


def extract(type: DiscoveryType, content: str, task_title: str, outcome_name: str) -> Coia:
    """A discovery sorted into the fields of a learning. What is beyond a field's limit stays in the discovery."""
    content = cut(one_line(content), FIELD_LIMIT)
    if not content:
        raise BadInput("the discovery has no text; write DISCOVERY[type]: what you found")
    roles = _sorted_by_role(content)
    title = _title(_sentences(content)[0])
    joined = {role: " ".join(map(_as_sentence, dict.fromkeys(clauses))) for role, clauses in roles.items() if clauses}
    stated = {role: cut(said, FIELD_LIMIT) for role, said in joined.items()}
    work = " · ".join(filter(None, (one_line(task_title), one_line(outcome_name))))
    context = cut(f"Working on: {work}" if work else "Noted outside a named task", FIELD_LIMIT)
    return Coia(
        title=title,
        context=stated.get("context") or context,
        observation=stated.get("observation") or _OBSERVED,
        implication=stated.get("implication") or _IMPLICATION_FILLERS[type],
        action=stated.get("action") or _ACTION_FILLERS[type],
        tags=tags.tags(content, spare=(type, "discovery")),
        domain=tags.domain(content, f"{task_title} {outcome_name}"),
        stated=tuple(role for role in COIA if role in stated),
    )


_LABEL = lazy(
    r"(?:(?P<action>fix|workaround|work-around|solution|remedy|resolution|action|recommendation|lesson|advice)"
    r"|(?P<implication>implication|impact|consequence|effect|result)"
    r"|(?P<context>context|background|setup)"
    r"|(?P<observation>observation|problem|issue|symptom|cause|root cause|reason|finding)):\s+",
    re.IGNORECASE,
)
_FOLLOWS = lazy(
    r"(?:therefore|thus|hence|consequently|accordingly|as a (?:result|consequence)|(?:this|that|which) means|meaning"
    r"|otherwise|or else|so)\b|.*\b(?:is|are|was|were|can|will) (?:therefore|thus|hence)\b|.*\bno longer\b",
    re.IGNORECASE,
)
_ADVICE_OPENING = lazy(
    r"(?:(?:next time|in (?:the )?future|from now on|going forward|instead|then|also|please|simply|just)[, ]\s*)+",
    re.IGNORECASE,
)
_ADVICE = lazy(r"(?:always|never|do not|don't|make sure|be sure|remember to)\b", re.IGNORECASE)
_CONDITION = lazy(r"(?:if|when|whenever|before|after|for|to|in|on|until|unless)\b[^,]{3,80},\s+", re.IGNORECASE)
_DUTY = lazy(
    r"\b(?:must|shall|should|ought to|ha(?:ve|s) to|needs? to|may only|is best|are best|is better"
    r"|are better|recommended)\b",
    re.IGNORECASE,
)
_REMEDY = lazy(
    r"\b(?:fixed|fixes|solved|solves|resolved|resolves|worked around|cured|helped|did the trick"
    r"|(?:fix|solution|workaround|remedy|trick|answer) (?:is|was))\b",
    re.IGNORECASE,
)
# Verbs that open an order; those that are nouns too, which do so when an object follows; and words that never do.
_LISTS = (Path(__file__).parent / "data" / "orders.txt").read_text("ascii").splitlines()
VERBS, _NOUNS_TOO, _NO_ORDERS = (frozenset(words.split()) for words in _LISTS)
_OBJECT = lazy(
    r"\S+\s+(?:an?|the|it|its|them|this|that|these|those|all|both|each|every|one|your|our|new|only|with|before|after|to"
    r"|for|from|in|on|at|by|as|up|down|out|off|over|any|no|`\S.*|\S*[_.()=/]\S*"
    r"|sudo|make|npm|npx|pnpm|yarn|pip|uv|git|docker|kubectl|cargo|python3?|pytest|bash|just|tox|terraform)(?:\s|$)",
    re.IGNORECASE,
)
# Any other word before "the", "a" or "it" is a verb too, unless it is one of these: 93 of 105 (docs/experiments.md).
_DOES = lazy(r"[A-Z]?[a-z]+(?:-[a-z]+)? (?:an?|the|it|them|your|our|its|every|each|any|all|both)\b")


def _sorted_by_role(content: str) -> dict[str, list[str]]:
    roles: dict[str, list[str]] = {role: [] for role in COIA}
    parts = (clause for sentence in _sentences(content) for clause in _CLAUSE_END.split(sentence))
    opening, *rest = (clause.strip() for part in parts for clause in _advice_apart(part) if clause.strip())
    for clause in (opening, *rest):
        role, text = _role(clause, opening=clause is opening)
        roles[role].append(text)
    # A rule that opens the discovery is what to do, when nothing else says it. Each clause is in one field only.
    if not roles["action"] and _DUTY.search(opening) and opening in roles["observation"]:
        roles["observation"].remove(opening)
        roles["action"] = [opening]
    return roles


def _advice_apart(clause: str) -> list[str]:
    """What was seen, and behind a colon what to do: "it hangs under xdist: use -p no:xdist". Two words are a label."""
    seen, _, advice = clause.partition(": ")
    return [seen, advice] if len(seen.split()) > 2 and _is_advice(advice) else [clause]


def _role(clause: str, *, opening: bool) -> tuple[Role, str]:
    """What a clause is for. The one that opens a discovery says what was seen unless it is plainly advice."""
    if label := _LABEL.match(clause):
        return cast(Role, label.lastgroup), clause[label.end() :]
    if _is_advice(clause) or (not opening and (_DUTY.search(clause) or _REMEDY.search(clause))):
        return "action", clause
    if not opening and _FOLLOWS.match(clause):
        rest = re.sub(r"^so,?\s+", "", clause, flags=re.IGNORECASE)
        return "action" if _is_advice(rest) else "implication", rest
    return "observation", clause


def _is_advice(clause: str) -> bool:
    for opening in (_ADVICE_OPENING, _CONDITION):
        if found := opening.match(clause):
            clause = clause[found.end() :]
    verb = re.split(r"[\s,:]", clause, maxsplit=1)[0].lower()
    if _ADVICE.match(clause) or verb in VERBS or (verb in _NOUNS_TOO and _OBJECT.match(clause)):
        return True
    return (
        bool(_DOES.match(clause))
        and verb not in STOP_WORDS | _NO_ORDERS
        and not verb.endswith(("ly", "ing", "ed", "s"))
    )


# --- Sentences and clauses

_CLAUSE_END = lazy(
    r";\s+|,\s+(?=so\s(?!that\b)|(?:which|that) means\b|hence\b|therefore\b|thus\b|otherwise\b|or else\b)",
    re.IGNORECASE,
)


def _sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in split_sentences(text, lower_case=True)]


def _as_sentence(clause: str) -> str:
    """The clause with its end; its first word may be a name (uv) and keeps its case."""
    return clause if clause.endswith((".", "!", "?", "。", "！", "？")) else clause.rstrip(",;:") + "."


def _title(sentence: str) -> str:
    """The head of the first sentence: the words that a reader with the same problem would search for."""
    sentence = _LABEL.sub("", sentence, count=1) if _LABEL.match(sentence) else sentence
    head = re.split(r"[;:]\s+", sentence, maxsplit=1)[0]
    if len(head.split()) < 3:
        head = sentence
    for end in (r",?\s+(?:because|since|as|so)\s+", r"[,;]\s+", r"\s+(?:which|that|when|while)\s+"):
        if len(head) > TITLE_LIMIT:
            head = re.split(end, head, maxsplit=1)[0]
    bare = head.rstrip(".!?,;: 。！？，；：")
    return cut(sentence if says_nothing(bare) else bare, TITLE_LIMIT)


_MARKER = lazy(
    r" {0,3}(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)?(?P<round>`|\*\*|)LEARNING_(?P<no>NOT_)?HELPFUL:[ \t]*+"
    r"(?P<id>learn_[A-Za-z0-9]++|<learn_[A-Za-z0-9]++>|`learn_[A-Za-z0-9]++`)(?P=round)[ \t\r]*+"
)


@record
class Verdicts:
    """Ids in order of first mention, each once. With both verdicts it is in `both` alone and counts as none."""

    helpful: tuple[str, ...] = ()
    not_helpful: tuple[str, ...] = ()
    both: tuple[str, ...] = ()


def read_signals(output: str) -> Verdicts:
    """The verdicts in a final message, in time linear in its length."""
    if "HELPFUL:" not in output:
        return Verdicts()
    verdicts: dict[str, set[bool]] = {}
    for line in own_lines(output):
        if "HELPFUL:" in line and (marker := _MARKER.fullmatch(line)):
            verdicts.setdefault(marker["id"].strip("<`>"), set()).add(marker["no"] is None)
    return Verdicts(
        helpful=tuple(name for name, said in verdicts.items() if said == {True}),
        not_helpful=tuple(name for name, said in verdicts.items() if said == {False}),
        both=tuple(name for name, said in verdicts.items() if len(said) == 2),
    )


def without_signals(output: str) -> str:
    """A message without the lines that are verdicts."""
    if "HELPFUL:" not in output:
        return output
    return "\n".join(line for line in output.split("\n") if not _MARKER.fullmatch(line))


# --- Topic and state


@record
class States:
    """What an entry says about its topic: the last name it gives, and what is done and what is open."""

    topic: str = ""
    done: tuple[str, ...] = ()
    open: tuple[str, ...] = ()


_NOTHING = lazy(  # "none", "nothing left to do", "-"
    r"(?i)\W*(?:(?:none|nothing|nil|no|n/a)\b(?:[ ,]+(?:is|are|else|more|further|left|open|remain\w*|pending"
    r"|to|be|do|done|for|now|here|this|topic|so|far|known|items?|points?|questions?|tasks?|work|at|the|moment))*\W*)?"
)


def read_states(output: str) -> States:
    """The `TOPIC:`, `DONE:` and `OPEN:` lines of a message; in a fence, a quote or a comment they are text."""
    found: dict[str, list[str]] = {"TOPIC": [], "DONE": [], "OPEN": []}
    if any(name in output for name in found):
        for line in own_lines(output):
            if (mark := STATE.fullmatch(line)) and not _NOTHING.fullmatch(mark["text"]):
                found[mark["what"]].append(one_line(mark["text"]))
    return States(topic=(found["TOPIC"] or [""])[-1], done=tuple(found["DONE"]), open=tuple(found["OPEN"]))


def without_states(output: str) -> str:
    if not any(name in output for name in ("TOPIC", "DONE", "OPEN")):
        return output
    return "\n".join(line for line in output.split("\n") if not STATE.fullmatch(line)).strip()
