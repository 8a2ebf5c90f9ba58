"""The plan of the engine: the same rooms in each language, and nothing outside of a language that names it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import pytest
import testlist
from testlist.language import Language
from testlist.languages import LANGUAGES, SYNTAXES, all_frameworks

HOME = Path(testlist.__file__).parent
ROOMS = HOME / "languages"
#: What a module of a language may be called, alone or before the name of a part (`facts_calls`):
ROLES = {
    "language",  # the record
    "vocabulary",  # names that frameworks give to things
    "strip",  # source without bodies
    "facts",  # what a child reads from a file
    "shape",  # the types of these
    "config",  # configuration: read in a child, understood outside of it
    "resolve",  # names across files
    "collect",  # rows
    "checks",  # what a child reads from bodies, on demand
    "scope",  # what its frameworks share
}
#: of these, what works on facts, and never on source
OUTSIDE_OF_CHILDREN = {"resolve", "collect", "scope"}
#: lines of a record
LONGEST = 80
WORD = re.compile(r"[\w.+-]+")


def modules(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py"))


def role(path: Path) -> str:
    return path.stem.partition("_")[0]


def label(path: Path) -> str:
    return path.relative_to(HOME).as_posix()


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def words(path: Path) -> Iterator[str]:
    """Of all texts of a module but its documentation."""
    module = tree(path)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    said = {id(node.body[0].value) for node in ast.walk(module) if isinstance(node, documented) and is_said(node)}
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and id(node) not in said and isinstance(node.value, str | bytes):
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            yield from WORD.findall(text)


def is_said(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return ast.get_docstring(node) is not None


NAMES = {*SYNTAXES, *(language.name for language in LANGUAGES), *(one.name for one in all_frameworks())}


def test_each_folder_of_a_language_has_a_record_and_the_other_way_round() -> None:
    folders = {path.parent.name for path in ROOMS.glob("*/__init__.py")}
    assert sorted(folders) == sorted(language.name for language in LANGUAGES)
    assert all((ROOMS / name / "language.py").exists() for name in folders)


def test_modules_of_a_language_are_named_by_their_roles() -> None:
    strange = [
        label(path)
        for path in modules(ROOMS)
        if len(path.relative_to(ROOMS).parts) == 2 and path.name != "__init__.py" and role(path) not in ROLES
    ]
    assert strange == []


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda one: one.name)
def test_a_language_has_readers_and_frameworks_of_its_own(language: Language) -> None:
    folder = ROOMS / language.name
    readers = {syntax.reader for syntax in language.syntaxes} | {form.reader for form in language.formats}
    assert {name for name in readers if not (folder / f"{name}.py").exists()} == set()
    for framework in language.frameworks():
        assert set(framework.languages) <= language.ids
    listed = {path.stem for path in (folder / "frameworks").glob("*.py")} - {"__init__"}
    assert len(listed) == len(language.frameworks())


def test_each_framework_is_in_the_list_of_its_language() -> None:
    names = [framework.name for framework in all_frameworks()]
    assert len(names) == len(set(names))


@pytest.mark.proof
def test_nothing_outside_of_a_language_imports_a_part_of_it() -> None:
    strangers = []
    for path in modules(HOME):
        own = path.relative_to(ROOMS).parts[0] if path.is_relative_to(ROOMS) else None
        if own == "__init__.py":
            continue  # the list of records
        strangers += [
            f"{label(path)}: {name}"
            for name in imports(path)
            for parts in [name.split(".")]
            if parts[:2] == ["testlist", "languages"] and len(parts) > 3 and parts[2] not in (own, "unread")
        ]
    assert strangers == []


def test_nothing_outside_of_a_language_names_it_or_its_frameworks() -> None:
    naming = {
        f"{label(path)}: {word}"
        for path in modules(HOME)
        if not path.is_relative_to(ROOMS) or path.parent == ROOMS
        for word in words(path)
        if word in NAMES
    }
    assert naming == set()


def test_only_what_runs_in_a_child_touches_source() -> None:
    touching = [
        label(path)
        for path in modules(ROOMS)
        if role(path) in OUTSIDE_OF_CHILDREN or path.parent.name == "frameworks"
        if any(name.startswith(("testlist.sandbox.syntax", "tree_sitter")) for name in imports(path))
    ]
    assert touching == []


def owner(path: Path) -> str:
    return path.relative_to(ROOMS).parts[0]


def has_types(language: Language) -> bool:
    """Whether its facts have types, and no other module gives a name to dictionaries of anything."""
    modules_of = modules(ROOMS / language.name)
    named = (ast.unparse(node.value) for path in modules_of for node in tree(path).body if isinstance(node, ast.Assign))
    shapes = (node.name for path in modules_of if path.stem == "shape" for node in ast.walk(tree(path)) if is_def(node))
    return "dict[str, Any]" not in named and "shape" in shapes


def is_def(node: ast.AST) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef)


@pytest.mark.proof
def test_facts_have_types() -> None:
    assert [language.name for language in LANGUAGES if not has_types(language)] == []


def test_rows_are_made_by_the_kit() -> None:
    making = {
        owner(path)
        for path in modules(ROOMS)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Test"
    }
    assert making == set()


def test_nothing_is_shared_under_a_text() -> None:
    assert [
        label(path) for path in modules(HOME) if re.search(r"shared\.setdefault\(|shared\[\"", path.read_text())
    ] == []


def test_records_are_short() -> None:
    lines = {label(path): len(path.read_text().splitlines()) for path in ROOMS.glob("*/language.py")}
    assert {path: number for path, number in lines.items() if number > LONGEST} == {}
