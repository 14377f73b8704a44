"""What a user may import is what `__all__` says, and every package says what it owns."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import recollect
from recollect.core import errors

SOURCE = Path(recollect.__file__).parent
PACKAGES = sorted(file.parent for file in SOURCE.rglob("__init__.py"))


def test_all_of_recollect_is_what_it_gives() -> None:
    typed = ast.parse((SOURCE / "__init__.py").read_text("utf-8"))
    imported = {
        name.name
        for block in typed.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module != "typing"
        for name in node.names
    }
    assert set(recollect.__all__) == imported == set(recollect._HOMES)
    assert recollect.__all__ == sorted(recollect.__all__)


@pytest.mark.parametrize("name", recollect.__all__)
def test_a_public_name_is_the_thing_itself(name: str) -> None:
    assert getattr(recollect, name).__name__ == name
    assert getattr(recollect, name) is getattr(importlib.import_module(recollect._HOMES[name]), name)


def test_what_the_main_verbs_give_can_be_imported() -> None:
    hints = ast.parse((SOURCE / "memory" / "memory.py").read_text("utf-8"))
    given = {
        node.name: node.returns.id
        for node in ast.walk(hints)
        if isinstance(node, ast.FunctionDef) and isinstance(node.returns, ast.Name)
    }
    verbs = ("learn", "observe", "inject", "feedback", "rate")
    assert {given[verb] for verb in verbs} <= set(recollect.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Nonsense"):
        recollect.Nonsense  # noqa: B018


def test_all_of_errors_is_every_error() -> None:
    public = {name for name, value in vars(errors).items() if isinstance(value, type) and not name.startswith("_")}
    assert set(errors.__all__) == public
    assert all(issubclass(getattr(errors, name), errors.RecollectError) for name in public)


def test_the_tree_of_errors_names_every_error() -> None:
    assert errors.__doc__ is not None
    assert [name for name in errors.__all__ if name not in errors.__doc__] == []


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_a_package_says_what_it_owns(package: Path) -> None:
    code = (package / "__init__.py").read_text("utf-8")
    assert ast.get_docstring(ast.parse(code))


@pytest.mark.parametrize("module", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_says_what_it_owns(module: Path) -> None:
    assert ast.get_docstring(ast.parse(module.read_text("utf-8")))
