"""Hosts' transcripts: which lines of a JSONL file a person or agent wrote, and which files were worked on.

A line that cannot be read, or is of an unknown kind, is skipped: hosts change their format without notice. What hosts
put around a user's words (reminders, command echoes) is not the user's.

And signs, in what an agent did, that it used, ignored or contradicted the advice of a learning: its action, what that
names to do and what it says to leave (`instead of`, `never`). `benchmarks/signs.py` measures
them.
"""

from __future__ import annotations

import json
import re
from functools import cache

from recollect.core.learning import IMPLIED
from recollect.core.records import MESSAGE, record
from recollect.text.markdown import lazy
from recollect.text.sentences import cut, split_sentences
from recollect.text.tokens import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from recollect.core.learning import Learning

MESSAGE_LIMIT = 1_000_000  # characters kept of a message, a quarter of what is read of a log; the rest is counted

_WRAPPED = lazy(
    r"<(system-reminder|environment_context|user_instructions|hook_context|command-message|command-name|"
    r"local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr)|task-notification)>"
    r".*?</\1>|\[Request interrupted by user[^\]\n]*\]",
    re.DOTALL,
)
_ARGUMENTS = lazy(r"</?command-args>")
_PATCHED = lazy(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


@record
class Turn:
    """A stretch of a conversation: what was asked, what was said last, which files were written, which commands were
    run."""

    requests: tuple[str, ...] = ()
    answer: str = ""
    files: tuple[str, ...] = ()
    delegated: Mapping[str, str] = {}
    """What subagents were asked to do, by their ids; under no id, what those were that may only just begin."""
    summary: str = ""
    """What the last compaction made of it."""
    commands: tuple[str, ...] = ()
    edits: tuple[str, ...] = ()
    """Each with the name of its file on the first line."""
    broken: bool = False
    """Whether the user interrupted it."""
    next_began: bool = False
    """Whether the last line that was read begins the next turn."""

    STORED = {"requests": MESSAGE, "answer": MESSAGE}


_Said = tuple[str, str]
"""What kind of thing (a request, an answer, one of the other `kinds` of `read`) and its words."""


def read(host: str, lines: Iterable[str], *, one: bool = False) -> Turn:
    """What lines say; with `one`, up to where the user first interrupted the agent.

    Gemini CLI does not record that: there a second request says so.
    """
    reader, next_began = _READERS.get(host), False
    kinds = "request answer file delegated returned launched summary command edit broken".split()
    found: dict[str, list[str]] = {kind: [] for kind in kinds}
    for line in lines if reader else ():
        try:
            item = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if reader and isinstance(item, dict):
            said = [(kind, words.strip()) for kind, words in reader(item)]
            asked = any(kind == "request" and words for kind, words in said)
            if one and host == "gemini" and asked and found["request"]:
                next_began = True
                break
            for kind, words in said:
                if (more := len(words) - MESSAGE_LIMIT) > 0:
                    words = f"{words[:MESSAGE_LIMIT]}\n[{more:,} more characters were not kept]"
                if words:
                    found[kind].append(words)
        if one and found["broken"]:
            break
    parted = [[each.partition("\n") for each in found[kind]] for kind in ("delegated", "launched")]
    delegated, launched = ({id: words for id, _, words in each} for each in parted)
    launched[""] = "\n\n".join(words for id, words in delegated.items() if id not in found["returned"])
    return Turn(
        requests=tuple(found["request"]),
        answer=found["answer"][-1] if found["answer"] else "",
        files=tuple(dict.fromkeys(found["file"])),
        delegated=launched,
        summary=found["summary"][-1] if found["summary"] else "",
        commands=tuple(found["command"]),
        edits=tuple(found["edit"]),
        broken=next_began or bool(found["broken"]),
        next_began=next_began,
    )


def own_words(text: str) -> str:
    """A user's message without what the host put around it."""
    return _ARGUMENTS.sub("", _WRAPPED.sub("", text)).strip()


_GOING_ON = """
    accept agreed ahead alright amend another anything apply approved awesome back build carry check cleanup clear
    commit compile complete confirmed continue cool correct definitely deploy done else error everything exactly
    excellent execute failing failure far fine finish fixed format forward give going good got great green happy hello
    help hi keep later left let lgtm like lint looks love main makes merge much nice nope ok okay one option part
    passing perfect please point pr proceed push ready really redo remaining rerun rest resume retry revert right run
    save second sense ship show skip sounds stage start step stop suite summarise summarize super sure tests thanks
    thing third tried try undo update wait want way well wonderful works wrong yeah yep yes yup
"""
_RESUMING = """
    ahead carry finish going keep proceed remaining rest resume
    weiter weitermachen fortsetzen continuer continuez poursuis sigue seguir continúa adelante continuar siga segue
    continua avanti procedi verder doorgaan dalej kontynuuj дальше продолжай продолжить далі продовжуй devam fortsätt
    fortsett fortsæt jatka pokračuj pokračovat συνέχισε 继续 繼續 続けて 続き 계속 تابع استمر המשך जारी lanjut lanjutkan
    tiếp ต่อ
"""  # the last four lines: "continue" in other languages


@cache
def _stems(words: str) -> frozenset[str]:
    return frozenset(terms(words))


def resumes(terms: Iterable[str]) -> bool:
    """Whether a request that goes on asks for the rest of earlier work: "continue", "carry on with the rest"."""
    return not _stems(_RESUMING).isdisjoint(terms)


def goes_on(request: str) -> bool:
    """Whether a request names no work of its own, and so belongs to the work before it: "yes", "run the tests".

    One plain word, or up to three with a mark after each, names no work in any language: "weiter", "好的，继续". In
    English a short one with few new words goes on if it answers ("yes, raise it") or points back ("that worked").
    """
    new = [term for term in terms(request) if term not in _stems(_GOING_ON) and not term.isdigit()]
    if not new:
        return True
    words = _MARKS.sub(" \n", request).split("\n")
    if len(words) <= 3 and all(map(_is_plain, words)):
        return True
    return len(request.split()) <= SHORT and len(new) <= FEW_NEW and bool(_POINTS.search(request))


# Words; chosen on 344 follow-ups. docs/experiments.md has figures on others.
SHORT, FEW_NEW = 8, 2
_POINTS = lazy(
    r"(?i:^(?:y|ye[aps]+h?|yup|nope|still|not|ok|okay|k|sure|great|good|perfect|thanks|hmm+|uh+|oh|ah|actually|right|wait"
    r"|also|and|but|or|plus|then|instead|same)\b"
    r"|\b(?:its?|th(?:is|at|ese|ose|em|ey)|same|still|again|instead|too|both|previous|above|rest|others?)\b)"
    r"|(?:^|[\s(#])(?:\d{1,3}|[A-HJ-Z])(?=[\s,!?:)]|\.?$)"  # an item of a list, or an option
)
_MARKS = lazy(r"[,.!?;:…،؛؟।]+\s+(?=\S)|[。，、！？]+\s*(?=\S)")  # auth.ts has no mark
_WORD_LETTERS, _HAN_LETTERS, _SYLLABLES = 13, 3, 6  # chosen: "einverstanden"; "没问题"; "お願いします", "감사합니다"


def _is_plain(said: str) -> bool:
    """Whether this is one word in plain letters: no name such as README, no path."""
    word = re.sub("['’-]", "", said.strip(" \n,.!?;:…。，、！？،؛؟।"))
    most = _WORD_LETTERS
    if word[:1] >= "\u2e80":  # Japanese for "go on" ends in hiragana; names of things are in katakana
        most = _SYLLABLES if re.search(r"[\u3040-\u309f\uac00-\ud7af]$", word) else _HAN_LETTERS
    plain = all(c.isalpha() or not c.isascii() for c in word)  # a vowel sign of Hindi or Thai is no letter
    return bool(word) and plain and len(word) <= most and word[1:] == word[1:].lower()


def _claude_code(item: dict[str, Any]) -> Iterator[_Said]:
    kind = item.get("type")
    if kind not in ("user", "assistant") or item.get("isSidechain"):
        return
    if item.get("isMeta") or item.get("isCompactSummary") or item.get("isVisibleInTranscriptOnly"):
        return
    for block in _blocks(item.get("message")):
        if block.get("type") == "text":
            text = _text(block.get("text"))
            yield ("request", own_words(text)) if kind == "user" else ("answer", text)
            if kind == "user" and text.startswith("[Request interrupted by user"):
                yield "broken", text
        elif block.get("type") == "tool_use" and isinstance(given := block.get("input"), dict):
            if block.get("name") in ("Edit", "Write", "MultiEdit", "NotebookEdit"):
                path = _text(given.get("file_path") or given.get("notebook_path"))
                yield "file", path
                for each in (given, *_objects(given.get("edits"))):
                    new = _text(each.get("new_string") or each.get("content") or each.get("new_source"))
                    yield "edit", f"{path}\n{new}"
            elif block.get("name") == "Bash":
                yield "command", _text(given.get("command"))
            elif block.get("name") in ("Task", "Agent"):
                yield "delegated", f"{block.get('id')}\n{_text(given.get('prompt'))}"
        elif block.get("type") == "tool_result":
            yield "returned", _text(block.get("tool_use_id"))
            if isinstance(made := item.get("toolUseResult"), dict):
                yield "launched", f"{made.get('agentId')}\n{_text(made.get('prompt'))}"


def _codex(item: dict[str, Any]) -> Iterator[_Said]:
    """Messages are events: `user_message` and `agent_message` in older releases, completed items in newer ones."""
    payload = item.get("payload")
    if not isinstance(payload, dict):
        return
    kind = payload.get("type")
    if item.get("type") == "response_item" and kind in ("custom_tool_call", "function_call"):
        given = _text(payload.get("input") or payload.get("arguments"))
        paths = _PATCHED.findall(given)
        yield from (("file", path) for path in paths)
        yield "edit" if paths else "command", given
    elif isinstance(more := item.get("metadata"), dict) and more.get("compaction_output"):
        yield "summary", "\n".join(_text(block.get("text")) for block in _blocks(payload))
    elif item.get("type") == "event_msg" and kind == "item_completed" and isinstance(done := payload.get("item"), dict):
        words = "\n".join(_text(block.get("text")) for block in _blocks(done))
        if done.get("type") == "UserMessage":
            yield "request", own_words(words)
        elif done.get("type") == "AgentMessage":
            yield "answer", words
    elif item.get("type") == "event_msg" and kind == "user_message":
        yield "request", own_words(_text(payload.get("message")))
    elif item.get("type") == "event_msg" and kind == "agent_message":
        yield "answer", _text(payload.get("message"))
    elif item.get("type") == "event_msg" and kind == "turn_aborted":
        yield "broken", kind


def _gemini(item: dict[str, Any]) -> Iterator[_Said]:
    """One message a line. A line that sets the whole history again (`$set`) holds nothing that was not there before."""
    if item.get("type") == "user":
        yield "request", "\n\n".join(filter(None, (own_words(_text(block.get("text"))) for block in _blocks(item))))
    elif item.get("type") == "gemini":
        yield "answer", "\n".join(_text(block.get("text")) for block in _blocks(item))
        for call in _objects(item.get("toolCalls")):
            given = call.get("args")
            if call.get("status") != "success" or not isinstance(given, dict):
                continue
            if call.get("name") in ("write_file", "replace"):
                path = _text(given.get("file_path"))
                yield "file", path
                yield "edit", f"{path}\n{_text(given.get('new_string') or given.get('content'))}"
            elif call.get("name") == "run_shell_command":
                yield "command", _text(given.get("command"))


_READERS: dict[str, Callable[[dict[str, Any]], Iterator[_Said]]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini": _gemini,
}


def _blocks(message: Any) -> list[dict[str, Any]]:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return _objects(content)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


# Chosen; from 0.4 to 0.8 the 30 seen sessions of the benchmark are told alike.
COVERED = 0.6
FEWEST = 2  # words of the advice that a stretch of work must share

_LEAVE = lazy(r"\b(?:instead of|rather than|never|not|don't|avoid|without)\b", re.IGNORECASE)
_SPAN = lazy(r"`([^`]+)`")
_NAME = lazy(r"--?[a-z][\w-]+|\w*[\w)][./_=:-][\w./_=:()-]*\w\)?|\w+\(\)|[a-z]+[A-Z]\w*|[A-Za-z]+\d\w*")
_FILE = lazy(r"/|\.[a-z]{1,5}$")
_PLACE = lazy(r"\b[A-Z]{2,}\b")
_CORRECTS = lazy(
    r"\b(?:no|not|don't|wrong|never|instead|must|should|ha(?:ve|s) to|why did you|we use|please (?:remove|add|use))\b",
    re.IGNORECASE,
)
_OVER = lazy(  # that something broken "no longer" happens is what using a learning brings, too
    r"\b(?:outdated|obsolete|not true|contrary to|does not apply|not the case"
    r"|no longer (?:needed|necessary|exists?|applies|holds|true)|not exist any ?more|not \w+ \w+ any ?more"
    r"|(?:learning|note|memory|remembered|claim)\b.{0,200}\b(?:wrong|no longer|any ?more))\b",
    re.IGNORECASE,
)


@record
class Sign:
    kind: str
    because: str


@record
class _Advice:
    """The names and the words of what to do, and the names of what to leave."""

    names: frozenset[str]
    words: frozenset[str]
    left_names: frozenset[str]


def read_sign(learning: Learning, turn: Turn, *, again: bool) -> Sign | None:
    """What a turn tells about a learning; `again`: the agent had answered since it was shown the learning."""
    action = "" if learning.action.startswith(IMPLIED) else learning.action
    to_do, to_leave = [], []
    for clause in re.split(r"[;.]\s|,\s", action):
        start, *rest = _LEAVE.split(clause, maxsplit=1)
        to_do.append(start)
        to_leave += rest
    advice = _Advice(names=_names(to_do), words=_words(to_do), left_names=_names(to_leave))
    about = frozenset(terms(f"{learning.title} {learning.observation} {learning.action}"))
    asked = "\n".join(turn.requests)
    told = [(each, FEWEST) for each in _sentences(asked if again else "")]
    told += [(each, FEWEST + 1) for each in _sentences(turn.answer)]
    if over := next((each for each, least in told if _OVER.search(each) and _shares(about, each, least)), ""):
        return Sign(kind="contradicted", because=cut(over, 120))
    if again and _CORRECTS.search(asked) and _shares(about, asked, FEWEST):
        return Sign(kind="ignored", because="the user asked for it afterwards")
    own = advice.words - frozenset(terms(asked))
    names = {name for name in advice.names if name not in asked}
    files = {name for name in names if _FILE.search(name)}
    if found := _named(names - files, [*turn.commands, *turn.edits]):
        return Sign(kind="used", because=f"`{found}`")
    for edit in turn.edits:  # a file that the advice names may be changed for other reasons
        if (found := _named(files, [edit])) and own & _plain_terms(edit) - frozenset(terms(found)):
            return Sign(kind="used", because=f"`{found}`")
    if found := _named(advice.left_names, [*turn.commands, *turn.edits]):
        return Sign(kind="ignored", because=f"`{found}`")
    for stretch in (*turn.edits, *_sentences(turn.answer)):
        shared = own & _plain_terms(stretch)
        if len(shared) >= FEWEST and len(shared) >= COVERED * len(own):
            return Sign(kind="used", because=", ".join(sorted(shared)))
    return None


def _names(parts: Iterable[str]) -> frozenset[str]:
    """What is written as code writes it: commands, flags, files, calls; without places for values."""
    found: set[str] = set()
    for part in parts:
        found |= {" ".join(_PLACE.sub("", span).split()) for span in _SPAN.findall(part)}
        found |= {*_NAME.findall(_SPAN.sub("", part))}
    return frozenset(name for name in found if len(name) > 2)


def _words(parts: Iterable[str]) -> frozenset[str]:
    return frozenset(term for part in parts for term in terms(_SPAN.sub("", part)))


def _named(names: Iterable[str], done: Sequence[str]) -> str:
    for name in sorted(names, key=len, reverse=True):
        shape = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
        if any(shape.search(each) for each in done):
            return name
    return ""


def _shares(about: frozenset[str], text: str, least: int) -> bool:
    return len(about & _plain_terms(text)) >= least


def _plain_terms(text: str) -> frozenset[str]:
    """The terms of a text, names of code in their parts."""
    return frozenset(terms(re.sub(r"[_./()'\"=-]|(?<=[a-z])(?=[A-Z])", " ", text)))


def _sentences(text: str) -> list[str]:
    return [each for line in text.split("\n") for each in split_sentences(line)]
