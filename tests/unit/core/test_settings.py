"""Settings: every source, its precedence, what is refused, and what a repository may not choose by itself."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect import BadInput
from recollect.core.settings import Settings, check_space, described, from_environment, merged
from recollect.store import project


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def load(root: Path, environ: dict[str, str], text: str = "") -> Settings:
    (root / "recollect.toml").write_text(f'space = "demo"\n{text}')
    return project.read(root, environ).settings


def test_each_source_wins_over_the_one_before(root: Path, environ: dict[str, str]) -> None:
    assert load(root, environ).inject.budget == 1500
    user = Path(environ["HOME"]) / ".config" / "recollect"
    user.mkdir(parents=True)
    (user / "config.toml").write_text("[inject]\nbudget = 1\nmax_learnings = 1\nmin_confidence = 0.1\n")
    assert load(root, environ).inject.budget == 1
    file = "[inject]\nbudget = 2\nmax_learnings = 2\n"
    environ["RECOLLECT_INJECT_BUDGET"] = "3"
    inject = load(root, environ, file).inject
    assert (inject.budget, inject.max_learnings, inject.min_confidence) == (3, 2, 0.1)


@pytest.mark.parametrize(
    "text",
    [
        "colour = 1",
        "[inject]\ncolour = 1",
        "[colour]\nred = 1",
        "inject = 5",
        "[inject]\nbudget = '900'",
        "[inject]\nbudget = 900.5",
        "[inject]\nbudget = true",
        "[inject]\nbudget = 0",
        "[inject]\nmin_confidence = 1.5",
        "[inject]\nmin_confidence = nan",
        "[inject]\nmin_confidence = -0.1",
        "[search]\nlimit = 0",
        "[staging]\nkeep_newest = -1",
        "[confidence]\ndecay_clock = 'lunar'",
        "[confidence]\ndecay_days = 0",
        "[store]\nbusy_seconds = -1",
        "[store]\nbusy_seconds = nan",
        "[store]\nbusy_seconds = inf",
        "timezone = 5",
        "timezone = ",
        "[inject",
    ],
)
def test_what_no_setting_may_be_is_refused(root: Path, environ: dict[str, str], text: str) -> None:
    with pytest.raises(BadInput):
        load(root, environ, text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[hosts]\nignore = 'vendor'", "hosts.ignore must be a list such as .*, not 'vendor'"),
        ("[inject]\nbudget = 'much'", "inject.budget must be a whole number, not 'much'"),
        ("[inject]\nmin_confidence = 'low'", "inject.min_confidence must be a number, not 'low'"),
        ("[staging]\nfile = 3", "staging.file must be text, not 3"),
        ("[inject]\nbudget = 0", "inject.budget must be at least 1"),
    ],
)
def test_a_refused_value_is_named_with_its_file_in_plain_words(
    root: Path, environ: dict[str, str], text: str, said: str
) -> None:
    with pytest.raises(BadInput, match=f"recollect.toml: {said}"):
        load(root, environ, text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[confidence]\nfloor = 0.9\nceiling = 0.8", "confidence.floor .0.9. is above confidence.ceiling .0.8."),
        ("[inject]\nexplore_from = 0.7", "inject.explore_from .0.7. is above inject.min_confidence .0.6."),
    ],
)
def test_a_floor_above_its_ceiling_is_refused_by_both_names(
    root: Path, environ: dict[str, str], text: str, names: str
) -> None:
    with pytest.raises(BadInput, match=names):
        load(root, environ, text)


def test_a_floor_and_its_ceiling_may_come_from_two_sources(root: Path, environ: dict[str, str]) -> None:
    environ["RECOLLECT_CONFIDENCE_FLOOR"] = "0.2"
    assert load(root, environ, "[confidence]\nceiling = 0.3").confidence.floor == 0.2
    environ["RECOLLECT_CONFIDENCE_FLOOR"] = "0.4"
    with pytest.raises(BadInput, match="is above confidence"):
        load(root, environ, "[confidence]\nceiling = 0.3")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path)])
def test_a_settings_file_that_is_no_regular_file_is_refused_and_never_read(
    root: Path, environ: dict[str, str], make: Callable[[Path], None]
) -> None:
    file = root / "recollect.toml"
    file.unlink(missing_ok=True)
    make(file)
    with pytest.raises(BadInput, match="not a regular file; move it away"):
        project.create(root, environ, space="demo")


@pytest.mark.parametrize("text", ["a=" + "[" * 5000 + "]" * 5000, "a=" + "{b=" * 5000 + "1" + "}" * 5000])
def test_a_settings_file_of_a_clone_may_nest_as_deep_as_it_likes(
    root: Path, environ: dict[str, str], text: str
) -> None:
    with pytest.raises(BadInput, match="not a settings file"):
        load(root, environ, text)


@pytest.mark.parametrize("space", ["../../elsewhere", "/etc", "a/b", "..", ".hidden", "a b", "x" * 101, 'a"b', "a\\nb"])
def test_a_space_is_a_plain_name(root: Path, environ: dict[str, str], space: str) -> None:
    """It names a folder in the user's state; a repository's file must not choose another place."""
    (root / "recollect.toml").write_text(f"space = '{space}'\n")
    with pytest.raises(BadInput, match="space"):
        project.load(root, environ)


def test_a_project_without_a_space_says_what_to_do(root: Path, environ: dict[str, str]) -> None:
    (root / "recollect.toml").write_text("")
    with pytest.raises(BadInput, match="recollect init"):
        project.load(root, environ)


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("RECOLLECT_INJECT_BUDGET", "900", "inject.budget", 900),
        ("RECOLLECT_INJECT_MIN_CONFIDENCE", "0.75", "inject.min_confidence", 0.75),
        ("RECOLLECT_TIMEZONE", "Europe/Berlin", "timezone", "Europe/Berlin"),
        ("RECOLLECT_CONFIDENCE_DECAY_CLOCK", "active", "confidence.decay_clock", "active"),
        ("RECOLLECT_STORE", "postgresql://x", "store.url", "postgresql://x"),
        ("RECOLLECT_STORE_URL", "postgresql://x", "store.url", "postgresql://x"),
        ("RECOLLECT_INJECT_BUDGET", "", "inject.budget", 1500),
    ],
)
def test_the_environment_sets_any_option(
    root: Path, environ: dict[str, str], variable: str, text: str, name: str, value: Any
) -> None:
    environ[variable] = text
    found: Any = load(root, environ)
    for part in name.split("."):
        found = getattr(found, part)
    assert found == value


PLAIN = [name for name, default in described() if not isinstance(default, tuple)]


@pytest.mark.parametrize("name", PLAIN)
def test_every_option_can_be_set_by_the_environment(name: str) -> None:
    default = dict(described())[name]
    given = from_environment({"RECOLLECT_" + name.replace(".", "_").upper(): str(default) or "text"})
    for part in name.split("."):
        given = given[part]
    assert given == (default if default or isinstance(default, bool | float) else "text")
    assert type(given) is type(default)


@pytest.mark.parametrize("text", ["many", "1.5", "1e9", "0x10"])
def test_the_environment_gives_numbers_as_numbers(text: str) -> None:
    with pytest.raises(BadInput, match="budget must be a number"):
        from_environment({"RECOLLECT_INJECT_BUDGET": text})


def test_a_whole_number_serves_as_a_decimal() -> None:
    assert merged(Settings(), {"inject": {"min_confidence": 1}}, "here").inject.min_confidence == 1.0
    with pytest.raises(BadInput):
        merged(Settings(), {"inject": {"min_confidence": True}}, "here")


def test_a_repository_may_not_choose_the_store_until_trusted(root: Path, environ: dict[str, str]) -> None:
    text = "[store]\nurl = 'postgresql://elsewhere'\n"
    with pytest.raises(BadInput, match="recollect host trust"):
        load(root, environ, text)
    project.trust(root, environ)
    assert load(root, environ, text).store.url == "postgresql://elsewhere"
    with pytest.raises(BadInput, match="recollect host trust"):
        load(root, environ, text.replace("elsewhere", "another"))


def test_a_trusted_file_is_trusted_where_it_is_only(root: Path, environ: dict[str, str], tmp_path: Path) -> None:
    text = "[store]\nurl = 'postgresql://elsewhere'\n"
    (root / "recollect.toml").write_text(f'space = "demo"\n{text}')
    project.trust(root, environ)
    copy = tmp_path / "copy"
    copy.mkdir()
    with pytest.raises(BadInput, match="recollect host trust"):
        load(copy, environ, text)


def test_the_user_may_choose_the_store(root: Path, environ: dict[str, str]) -> None:
    user = Path(environ["HOME"]) / ".config" / "recollect"
    user.mkdir(parents=True)
    (user / "config.toml").write_text("[store]\nurl = 'postgresql://mine'\n")
    assert load(root, environ).store.url == "postgresql://mine"


def test_a_changed_file_is_read_again(root: Path, environ: dict[str, str]) -> None:
    project.create(root, environ, space="demo")
    assert load(root, environ, "[inject]\nbudget = 11\n").inject.budget == 11
    assert load(root, environ, "[inject]\nbudget = 222\n").inject.budget == 222
    (copy,) = project.load(root, environ).data.glob("settings-*.json")
    assert "222" in copy.read_text()
    copy.write_text("{")
    assert project.load(root, environ).settings.inject.budget == 222


def test_a_remembered_copy_passes_the_same_checks(root: Path, environ: dict[str, str]) -> None:
    project.create(root, environ, space="demo")
    text = "[store]\nurl = 'postgresql://elsewhere'\n"
    for _ in range(2):
        with pytest.raises(BadInput, match="recollect host trust"):
            load(root, environ, text)


def test_a_forged_copy_is_not_trusted_for_the_sake_of_its_file(root: Path, environ: dict[str, str]) -> None:
    project.create(root, environ, space="demo")
    with pytest.raises(BadInput, match="recollect host trust"):
        load(root, environ, "[models]\nprovider = 'command'\ncommand = ['mine']\n")
    project.trust(root, environ)
    assert project.load(root, environ).settings.models.command == ("mine",)
    (copy,) = project.load(root, environ).data.glob("settings-*.json")
    copy.write_text(copy.read_text().replace("mine", "theirs"))
    with pytest.raises(BadInput, match="recollect host trust"):
        project.load(root, environ)


@pytest.mark.parametrize(
    "wrong", [{"space": 'a"b'}, {"space": "../x"}, {"timezone": "Mars/Base"}, {"timezone": '"'}, {"timezone": "../x"}]
)
def test_a_project_is_not_begun_with_names_it_could_not_read_back(
    root: Path, environ: dict[str, str], wrong: dict[str, str]
) -> None:
    with pytest.raises(BadInput):
        project.create(root, environ, **wrong)
    assert list(root.iterdir()) == []


def test_beginning_again_changes_nothing(root: Path, environ: dict[str, str]) -> None:
    assert len(project.create(root, environ, space="demo", timezone="UTC")) == 2
    before = {path.name: path.read_bytes() for path in root.iterdir() if path.is_file()}
    assert project.create(root, environ) == []
    assert project.create(root, environ, space="demo") == []
    with pytest.raises(BadInput, match="already names space demo"):
        project.create(root, environ, space="other")
    assert {path.name: path.read_bytes() for path in root.iterdir()} == before
    assert list(before) == ["recollect.toml"]


def test_a_project_whose_space_is_empty_is_not_made_unreadable(root: Path, environ: dict[str, str]) -> None:
    (root / "recollect.toml").write_text('space = ""\n')
    with pytest.raises(BadInput, match="has an empty space; give it a name"):
        project.create(root, environ)
    assert (root / "recollect.toml").read_text() == 'space = ""\n'


def test_a_list_is_given_with_commas_in_the_environment() -> None:
    given = from_environment({"RECOLLECT_DECISIONS_KEEP": "stakes:critical, tag:adr"})
    assert merged(Settings(), given, "environment").decisions.keep == ("stakes:critical", "tag:adr")


def test_a_table_is_kept_as_it_was_written_and_cannot_change() -> None:
    given = {"decisions": {"categories": {"security": {"wisdom_days": 365, "keep": ["tag:adr"]}}}}
    found = merged(Settings(), given, "file").decisions.categories
    assert found == (("security", (("wisdom_days", 365), ("keep", ("tag:adr",)))),)


@pytest.mark.parametrize("value", ["stakes:critical", 5, True])
def test_a_list_that_is_none_is_refused(value: object) -> None:
    with pytest.raises(BadInput, match=r"decisions\.keep"):
        merged(Settings(), {"decisions": {"keep": value}}, "file")


def test_a_space_has_at_most_80_characters() -> None:
    check_space("s" * 80)
    with pytest.raises(BadInput, match="at most 80"):
        check_space("s" * 81)


@pytest.mark.parametrize("folder", ["/etc", "../beside", "work/../../beside", "out"])
def test_findings_lie_inside_the_project(root: Path, environ: dict[str, str], folder: str) -> None:
    (root / "out").symlink_to(root.parent)
    with pytest.raises(BadInput, match="must be a folder inside the project"):
        load(root, environ, f'[findings]\nfolder = "{folder}"\n')
