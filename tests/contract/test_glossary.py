"""No identifier, comment, message or document uses a term that the glossary's column "Never" sets in code style."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.conftest import ROOT

pytestmark = pytest.mark.rule

GLOSSARY = Path("docs/glossary.md")
#: Where our words are: the engine is rebuilt on its own, and a sample of generated sentences quotes other people's tests.
SEARCHED = ("app", "tasks", "packages", "docs")
LEFT_OUT = ("packages/testlist/", GLOSSARY.as_posix(), "docs/specview-sample.md")
PROSE = {".md", ".sql", ".html", ".py"}
#: `slotLimit`, `slot_limit` and `slot limit` are the same two words.
#: An f-string is a string up to Python 3.11, and pieces from 3.12 on.
STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
SENTENCE = re.compile(r"[a-z][,.:;] [a-z]|[a-z]{2} .*[a-z][.!?]['\"]$", re.IGNORECASE | re.DOTALL)
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def never() -> dict[str, str]:
    """Forbidden term -> the term to say instead."""
    found = dict[str, str]()
    for line in (ROOT / GLOSSARY).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 3:
            found |= dict.fromkeys(re.findall(r"`([^`]+)`", cells[2]), cells[0])
    return found


NEVER = never()


def pattern(term: str) -> re.Pattern[str]:
    """The words of a term after each other, the last one also in the plural."""
    return re.compile(f" {' '.join(term.lower().split())}(?:e?s)? ")


def words(text: str) -> str:
    """Lower-case words between spaces, so that a term is found whatever case or separators it was written with."""
    return f" {' '.join(word.lower() for word in WORDS.findall(text))} "


def is_prose(token: tokenize.TokenInfo, documented: set[int]) -> bool:
    """Whether a token is a name, a comment, a docstring, or a string with a mark of punctuation; others are data."""
    if token.type in STRINGS:
        return token.start[0] in documented or SENTENCE.search(token.string) is not None
    return token.type in (tokenize.NAME, tokenize.COMMENT)


def of_python(source: str) -> Iterator[tuple[int, str]]:
    """(line, text) of names and prose."""
    documented = {
        node.body[0].lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body
    }
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if is_prose(token, documented):
            yield token.start[0], token.string


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of everything in a file that people read."""
    source = (ROOT / path).read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from of_python(source)
    else:
        yield from enumerate(source.splitlines(), 1)


@pytest.fixture(scope="module")
def searched(sources: list[Path]) -> dict[str, str]:
    """`file:line` -> its words, of everything that is searched."""
    found = dict[str, str]()
    for path in sources:
        name = path.as_posix()
        ours = path.parts[0] in SEARCHED or len(path.parts) == 1
        if ours and path.suffix in PROSE and "tests" not in path.parts and not name.startswith(LEFT_OUT):
            for number, text in texts(path):
                found[f"{name}:{number}"] = found.get(f"{name}:{number}", "") + words(text)
    return found


def test_the_glossary_has_terms_to_search_for() -> None:
    assert len(NEVER) > 40
    assert "billing cycle" in NEVER


def test_a_term_is_found_in_any_spelling() -> None:
    for written in ("a billing cycle", "billing_cycle", "BillingCycle", "BILLING_CYCLES", "billing cycles."):
        assert pattern("billing cycle").search(words(written)), written
    assert not pattern("reap").search(words("reappears"))


@pytest.mark.parametrize("term", sorted(NEVER))
def test_no_file_uses_a_term_that_the_glossary_rules_out(term: str, searched: dict[str, str]) -> None:
    wanted = pattern(term)
    found = {place: f"say {NEVER[term]!r}" for place, text in searched.items() if wanted.search(text)}
    assert found == {}
