"""A learning as a file that an agent reads and edits: the block it is injected as, and how an edited one is read.

Lenient towards the writer: labels in bold, as headings or plain, in any order, a field over several lines, or prose
without any label, which is sorted into the fields by its own words. Knows nothing about where files are.
"""

from __future__ import annotations

import re

from recollect.core.errors import BadInput
from recollect.core.learning import COIA, Learning
from recollect.core.new_learning import TITLE_LIMIT, NewLearning
from recollect.text import frame
from recollect.text.markdown import heading
from recollect.text.markers import extract
from recollect.text.patterns import lazy
from recollect.text.staging import slug_of

_STATE = lazy(r"[ \t]*\[confidence: [^\]]*\]$")
_LABEL = lazy(
    r"(?:[-*][ \t]+)?(?:\*\*|__|#{1,6}[ \t]+)?(?P<name>context|observation|implication|action)"
    r"(?:(?:\*\*|__)?:(?:\*\*|__)?(?:[ \t]+|$)|[ \t]*$)(?P<text>.*)",
    re.IGNORECASE,
)
_FOOTER = lazy(r"_ID: .*_")


def render(learning: Learning) -> str:
    """The file of a learning; `read` gives its words back."""
    return frame.block(learning) + "\n"


def read(text: str) -> dict[str, str]:
    """The title and whichever of the four fields a text labels; prose before any label is under `prose`."""
    found: dict[str, list[str]] = {}
    current = "prose"
    for line in text.splitlines():
        title, label = heading(line), _LABEL.match(line)
        if label and not (title and _STATE.search(line)):  # a title of ours may be any words, a label's too
            current = label["name"].lower()
            found.setdefault(current, []).append(label["text"])
        elif title and "title" not in found and not any(name in found for name in COIA):
            found["title"] = [_STATE.sub("", title[1])]
        elif not _FOOTER.fullmatch(line):
            found.setdefault(current, []).append(line)
    read = {name: frame.one_line(frame.unescape(" ".join(lines))) for name, lines in found.items()}
    return {name: value for name, value in read.items() if value}


def new_learning(text: str, name: str) -> NewLearning:
    """What a new file says. What it does not label is read out of its prose; its name is the title of last resort."""
    given = read(text)
    prose = given.pop("prose", "") or " ".join(given.get(field, "") for field in COIA).strip()
    if not prose:
        raise BadInput("the file is empty; a learning says what was observed and what to do about it")
    title = given.get("title") or _words(name)
    made = extract("pattern", prose, title, "")
    return NewLearning(
        title=(title or made.title)[:TITLE_LIMIT].rstrip(),
        context=given.get("context") or made.context,
        observation=given.get("observation") or made.observation,
        implication=given.get("implication") or made.implication,
        action=given.get("action") or made.action,
        tags=made.tags,
        domain=made.domain,
    )


def edited(learning: Learning, text: str) -> dict[str, str]:
    """The fields that an edited file says differently."""
    before, after = read(render(learning)), read(text)
    gone = [name for name in before if name not in after]
    if gone:
        raise BadInput(f"{', '.join(gone)} would be gone; a learning keeps its title and all of {', '.join(COIA)}")
    if "prose" in after:
        raise BadInput(f"the first line is the title and every other belongs to one of {', '.join(COIA)}")
    return {name: after[name] for name in before if after[name] != before[name]}


def file_name(learning: Learning) -> str:
    """The words of the title for who looks, the id for who looks it up: it stays right when the title changes."""
    return f"{slug_of(learning.title)}.{learning.id}.md"


def id_in(name: str) -> str:
    """The id that a file's name ends in."""
    return name.removesuffix(".md").rpartition(".")[2]


def title_in(name: str, id: str) -> str:
    """The words of a file's name as a title; the id at its end is none of them."""
    return _words(name.removesuffix(".md").removesuffix(f".{id}"))[:TITLE_LIMIT].rstrip()


def _words(name: str) -> str:
    return name.replace("-", " ").replace("_", " ").strip().capitalize()
