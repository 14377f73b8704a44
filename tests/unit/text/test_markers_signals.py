"""A verdict is what an agent says itself, plainly, once."""

from __future__ import annotations

from itertools import product

import pytest

from recollect.text.markers import Verdicts, read_signals

GOOD = "LEARNING_HELPFUL: learn_abc123"
BAD = "LEARNING_NOT_HELPFUL: learn_abc123"
HELPFUL = Verdicts(helpful=("learn_abc123",))


@pytest.mark.parametrize(
    "output",
    [
        GOOD,
        f"Done.\n\n{GOOD}\n",
        f"Done.\r\n{GOOD}\r\nBye.",
        f"   {GOOD}  \t",
        "LEARNING_HELPFUL:learn_abc123",
        "LEARNING_HELPFUL: \t learn_abc123",
        f"- {GOOD}",
        f"* {GOOD}",
        f"  + {GOOD}",
        f"`{GOOD}`",
        f"**{GOOD}**",
        f"- `{GOOD}`",
        "LEARNING_HELPFUL: `learn_abc123`",
        "LEARNING_HELPFUL: <learn_abc123>",
        "- **LEARNING_HELPFUL: `learn_abc123`**",
        "`LEARNING_HELPFUL: <learn_abc123>`",
        f"```\ncode\n```\n{GOOD}",
        f"> quote\n\n{GOOD}",
        f"Inline ```code``` does not open a fence\n{GOOD}",
        f"```code``` at the start opens none either\n{GOOD}",
        f"~~~~\n~~~\n~~~~\n{GOOD}",
        f"<!-- note -->\n{GOOD}",
        f"<!--\nnote\n-->\n{GOOD}",
        f"<!-->\n{GOOD}",
        f"Done <!-- note\nmore --> and dusted\n{GOOD}",
        f"Nobody closed <!-- this one\n\n{GOOD}",
        f"The template begins with `<!--`\n{GOOD}",
        f"a --> b\n{GOOD}",
        f"```\n<!--\n```\n{GOOD}",
        f"> <!--\n\n{GOOD}",
        f"<pre>\nshown\n</pre>\n{GOOD}",
        f"<pre>shown</pre>\n{GOOD}",
        f"<file> is never closed\n{GOOD}",
        f"</pre>\n<pre>\n{GOOD}",
        f"<details>\n{GOOD}",
        f"$$x$$\n{GOOD}",
        f"It costs\n$$\n{GOOD}",
        f"<!DOCTYPE html>\n{GOOD}",
        f"[1]: https://example.org\n{GOOD}",
        f'[1]: https://example.org "Title"\n{GOOD}',
        f'[1]: https://example.org "never closed\n{GOOD}',
        f'[1]: https://example.org "of another paragraph\n{GOOD}\n\n"',
        f"[Verdict]:\n{GOOD}",
        f"[1]: https://example.org\n(see there\n\n{GOOD}\n)",
        f"<details>\n<details>\nlog\n</details>\n</details>\n{GOOD}",
        f"Done <!-->\n{GOOD}",
        f"Use <details> for logs.\n{GOOD}\n<details>\nlog\n</details>",
        f"It writes `<pre>` first.\n{GOOD}\nThen `</pre>`.",
        f"Output: <pre>shown</pre>\n{GOOD}",
        f"<pre>\nshown</pre >\n{GOOD}",
        f"<!-- one --> <!-- two -->\n{GOOD}",
        f"A stray ` tick\n{GOOD}\n",
        f"One ` tick\n\n{GOOD}\n\nanother ` tick",
        f"- one ` tick\n- {GOOD}\n- another ` tick",
        f"One ` tick\n{GOOD}\nand `` two ticks",
        f"One `name`\n{GOOD}\nand `another`",
        f"  ```\n  code\n   ```\n{GOOD}",
        f"- item\n\n  ```\n  code\n  ```\n\n{GOOD}",
        f"1. step\n   ```\n   code\n```\n{GOOD}",
        f"\ufeff```\ncode\n```\n{GOOD}",
    ],
)
def test_a_marker_alone_on_a_line_counts(output: str) -> None:
    assert read_signals(output) == HELPFUL


@pytest.mark.parametrize(
    "output",
    [
        "",
        "no marker at all",
        f"The note said {GOOD}",
        f"{GOOD} because it saved an hour",
        f"{GOOD}.",
        f"{GOOD}, learn_def",
        f"> {GOOD}",
        f"  > {GOOD}",
        f"- > {GOOD}",
        f"```\n{GOOD}\n```",
        f"```text\n{GOOD}\n```",
        f"~~~\n{GOOD}\n~~~",
        f"````\n```\n{GOOD}\n```\n````",
        f"```\n~~~\n{GOOD}\n```",
        f"<!-- {GOOD} -->",
        f"<!--{GOOD}-->",
        f"Done.\n<!--\n{GOOD}\n-->\n",
        f"Done.\n<!--\n\n{GOOD}\n\n-->\n",
        f"Done.\n<!-- never closed\n\n{GOOD}\n",
        f"Done.\n   <!--\n{GOOD}\n-->",
        f"- <!--\n  {GOOD}\n  -->",
        f"Done <!--\n{GOOD}\n-->",
        f"Done <!-- one --> <!-- two\n{GOOD}\n-->",
        f"<!--\n```\n-->\n```\n{GOOD}\n```",
        f"<!-- > -- >\n{GOOD}\n-->",
        f"<!-- --> {GOOD}",
        f"Done <!--\n```\n\n{GOOD}\n```",
        f"- ```\n  {GOOD}\n  ```",
        f"1. step\n   ```\n   {GOOD}\n   ```",
        f"```\nnever closed\n\n{GOOD}",
        *(f"<{name}>\n{GOOD}\n</{name}>" for name in ("pre", "code", "blockquote", "style", "template", "tool_result")),
        f'<file path="notes.md">\n\n{GOOD}\n</file>',
        f"<div hidden>\n{GOOD}\n</div>",
        f'<span style="display:none">\n{GOOD}\n</span>',
        f"<?php\n{GOOD}\n?>",
        f"<![CDATA[\n{GOOD}\n]]>",
        f"<!DOCTYPE\n{GOOD}\n>",
        f"<!X\n\n{GOOD}\n>",
        f"<details>\n{GOOD}\n</details>",
        f"<details open>\n<summary>Log</summary>\n\n{GOOD}\n\n</details>",
        f"$$\n{GOOD}\n$$",
        f"- $$ x =\n  {GOOD}\n  $$",
        f'[1]: https://example.org "\n{GOOD}\n"',
        f"[1]: https://example.org\n'\n{GOOD}\n'",
        f"[1]: https://example.org (\n{GOOD}\n)",
        f"- [1]:\n  https://example.org\n  (\n  {GOOD}\n  )",
        "[1]:\nLEARNING_HELPFUL:learn_abc123",
        f"<details>\n<details>\nlog\n</details>\n{GOOD}\n</details>",
        f"<div hidden>\n<div>\n</div>\n{GOOD}\n</div>",
        f"Output: <pre>\n{GOOD}\n</pre>",
        f"- Output: <pre>shown</pre> <code>\n{GOOD}\n</code>",
        f"<pre>\n{GOOD}\n</pre >",
        f"<PRE>\n{GOOD}\n</Pre\n>",
        f'<pre\n  class="x">\n{GOOD}\n</pre>',
        f"<div\n  hidden>\n{GOOD}\n</div>",
        f"<!-- one --> <!-- two\n{GOOD}\n-->",
        f"<!--\none --> <!-- two\n{GOOD}\n-->",
        f"It said `one\n{GOOD}\ntwo` and stopped.",
        f"It said ``one ` tick\n{GOOD}\ntwo``",
        f"It said `one\n{GOOD}\n` and stopped.",
        f"```\n     ```\n{GOOD}\n```",
        f"- ```\n        ```\n  {GOOD}\n  ```",
        f"\ufeff```\n{GOOD}\n```",
        f"\ufeff<!--\n{GOOD}\n-->",
        f"\ufeff<pre>\n{GOOD}\n</pre>",
        f"```\n``` not a close\n{GOOD}",
        f"    {GOOD}",
        f"\t{GOOD}",
        f"`{GOOD}",
        f"{GOOD}`",
        f"**{GOOD}`",
        f"*{GOOD}*",
        f'"{GOOD}"',
        "learning_helpful: learn_abc123",
        "Learning_Helpful: learn_abc123",
        "LEARNING HELPFUL: learn_abc123",
        "LEARNING_HELPFUL learn_abc123",
        "LEARNING_HELPFUL: LEARN_abc123",
        "LEARNING_HELPFUL:\nlearn_abc123",
        "LEARNING_\nHELPFUL: learn_abc123",
        "LEARNING_HELPFUL: learn_",
        "LEARNING_HELPFUL: learn_abc-123",
        "LEARNING_HELPFUL: learn_abc_123",
        "LEARNING_HELPFUL: learn_abc123_",
        "LEARNING_HELPFUL: learn_ábc",
        "LEARNING_HELPFUL: learn_１２３",
        "LEARNING_HELPFUL: dec_abc123",
        "LEARNING_HELPFUL: <id>",
        "LEARNING_HELPFUL: <learn_abc123",
        "LEARNING_HELPFUL: <learn_abc123`",
        "LEARNING_HELPFUL: <<learn_abc123>>",
        "LEARNING_HELPFUL: ``learn_abc123``",
        f"tool says\u2028{GOOD}\u2028",
        f"tool says\x0b{GOOD}",
        f"tool says\r{GOOD}",
        "XLEARNING_HELPFUL: learn_abc123",
        "LEARNING\\_HELPFUL: learn_abc123",
    ],
)
def test_anything_else_does_not(output: str) -> None:
    assert read_signals(output) == Verdicts()


def test_not_helpful_is_its_own_verdict() -> None:
    assert read_signals(BAD) == Verdicts(not_helpful=("learn_abc123",))


def test_a_thousand_repeats_count_once() -> None:
    assert read_signals(f"{GOOD}\n" * 1000) == HELPFUL


@pytest.mark.parametrize("output", [f"{GOOD}\n{BAD}", f"{BAD}\n{GOOD}", f"{GOOD}\n{BAD}\n{GOOD}\n{GOOD}"])
def test_both_verdicts_count_as_none_and_are_told(output: str) -> None:
    assert read_signals(output) == Verdicts(both=("learn_abc123",))


def test_ids_come_in_order_of_first_mention() -> None:
    output = "\n".join(f"LEARNING_HELPFUL: learn_{name}" for name in "cabac")
    assert read_signals(output).helpful == ("learn_c", "learn_a", "learn_b")


@pytest.mark.parametrize(
    "line",
    [
        "- " * 100_000,
        " " * 200_000,
        "`" * 200_000,
        "1. " * 70_000,
        "> " * 100_000,
        "-" * 200_000,
        "\t" * 200_000,
    ],
)
def test_a_very_long_line_costs_no_more_than_its_length(line: str) -> None:
    # Anything quadratic would take minutes here.
    assert read_signals(f"{line}HELPFUL:\n" * 5) == Verdicts()


@pytest.mark.parametrize(
    "unit",
    [
        "<pre>\n",
        "x <pre> ",
        "` <pre>",
        "</pre>\n",
        "a `\n",
        "<!-- a --> <!-- b\n",
        "<a hidden>\n",
        "<a\n",
        "[1]: x '\n",
    ],
)
def test_many_openings_cost_no_more_than_their_length(unit: str) -> None:
    # Anything quadratic would take minutes here; these take a second at most.
    assert read_signals(f"{unit * 100_000}\n\nHELPFUL:\n</pre>\n") == Verdicts()


def test_elements_of_many_names_cost_no_more_than_their_length() -> None:
    names = ("".join(letters) for letters in product("abcdefghij", repeat=5))
    assert read_signals("".join(f"<{name} hidden>\n" for name in names) + "HELPFUL:\n</abcde>") == Verdicts()


@pytest.mark.parametrize("tag", ["PRE", "Details", "iframe", "noscript", "file_content", "diff"])
def test_a_verdict_in_an_element_of_any_case_is_not_the_agents(tag: str) -> None:
    assert read_signals(f"<{tag}>\nLEARNING_HELPFUL: learn_ABC123\n</{tag}>") == Verdicts()


def test_a_verdict_in_a_numbered_list_counts() -> None:
    assert read_signals("1. LEARNING_HELPFUL: learn_ABC123").helpful == ("learn_ABC123",)
