"""The meaningful words of a test's name and suites, without markers such as `test_`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePosixPath

from app.domain.specification import Subject
from app.specview import phrases
from app.specview.forms import base_of_gerund
from app.specview.listed import listed
from app.specview.words import clean, is_identifier, looks_like_code, split_identifier, split_title

_OPENINGS = (
    "when|if|unless|while|with|without|given|after|before|on|in|inside|outside|for|using|once|as|where|during|via|"
    "under|from"
)
_CONTEXT = re.compile(rf"(?:and )?(?:{_OPENINGS})[\s:]+\S", re.IGNORECASE)
_TIME = listed("after before")
_ARTICLES = listed("a an the this that its")
#: what leads from a suite to the names in it
_LEADING = re.compile(r"(?:^|\s+)(?:should|that|which|and|when)$", re.IGNORECASE)
_TEST_CLASS = re.compile(r"\w+[a-z0-9](?:Tests?|TestCase|Spec|IT)")
#: `#call`, `Pool#call`, `.route`, `parse()`
_METHOD = re.compile(r"(?:\S*#|\.)[A-Za-z_]\w*[?!=]?(?:\(.*\))?|\S*\w\(.*\)")
_CASE = re.compile(r"(\w+)\[(.+)\]")
_CALL = re.compile(r"\w+\(\)")
_NUMBERED = re.compile(r"test_\d{4}_(?=.)")
_MARKS = (
    re.compile(r"(?:test|spec)_+(?=.)", re.IGNORECASE),
    re.compile(r"[Tt]est(?=[A-Z0-9])"),
)
_KINDS = {"Benchmark": "benchmark", "Example": "example", "Fuzz": "fuzz"}
_NOISE = listed("test tests spec specs it describe suite unittest testcase")


@dataclass(frozen=True, slots=True)
class Title:
    """The parts of a test's name.

    kind: test, example, benchmark or fuzz; text: the name without marks; case: of a table's row or a subtest.

    thing: what of the program the suites name, as code; contexts: suites such as "when …", outermost first; about:
    the innermost suite that is neither; titled: whether the framework has titles rather than functions; things: words
    of what the file, the suites and a part before an underscore name, without those that say "test".
    """

    kind: str
    text: str
    words: tuple[str, ...]
    identifier: bool
    case: str
    thing: str
    contexts: tuple[str, ...]
    about: str
    titled: bool
    things: frozenset[tuple[str, ...]] = frozenset()


def title_of(subject: Subject) -> Title:
    """Read a test's name and suites."""
    if not subject.name.strip() and subject.suites:  # the innermost title is the statement
        subject = replace(subject, name=subject.suites[-1], suites=subject.suites[:-1])
    name, case = _row(clean(subject.name), subject.framework)
    kind, name = _unmarked(name, subject.framework)
    titled = subject.framework not in _CLASSES
    identifier = is_identifier(name) and not (titled and name.isalpha() and name.islower())
    symbols = subject.name.lower().startswith("test_") and not titled
    words = tuple(split_identifier(name, symbols=symbols)) if identifier else tuple(split_title(name))
    thing, contexts, about = _surroundings(subject.suites, subject.framework)
    things = _things(subject)
    if identifier and not name.islower() and "_" in name:
        things |= {_named(name.partition("_")[0])}
    return Title(kind, name, words, identifier, case, thing, contexts, about, titled, things)


def _things(subject: Subject) -> frozenset[tuple[str, ...]]:
    names = (PurePosixPath(subject.file).name.partition(".")[0], *map(clean, subject.suites))
    return frozenset(filter(None, map(_named, names)))


@lru_cache(4096)
def _named(name: str) -> tuple[str, ...]:
    """`arg_group` of `test_arg_group.py`, `HttpClient` of `HttpClientTest`, in lower case."""
    if not is_identifier(name.replace("-", "_")):
        return ()
    return tuple(word.lower() for word in split_identifier(name.replace("-", "_")) if word.lower() not in _NOISE)


def _row(name: str, framework: str) -> tuple[str, str]:
    """The row of a table, or the subtest, apart from the name of the test."""
    if framework == "go-testing" and "/" in name[1:] and not name.startswith("/"):
        head, _, case = name.partition("/")
        return head, case.replace("_", " ")
    if name.startswith("`") and name.endswith("`()"):
        return name[:-2], ""
    if found := _CASE.fullmatch(name):
        return found[1], found[2]
    return (name[:-2], "") if _CALL.fullmatch(name) else (name, "")


def _unmarked(name: str, framework: str) -> tuple[str, str]:
    if framework == "go-testing":
        for mark, kind in _KINDS.items():
            if name.startswith(mark) and len(name) > len(mark) and not name[len(mark)].islower():
                return kind, name[len(mark) :].lstrip("_")
    if found := _NUMBERED.match(name):
        return "test", name[found.end() :]
    if not is_identifier(name):
        quoted = len(name) > 2 and name[0] == name[-1] == "`" and "`" not in name[1:-1]
        return "test", name[1:-1] if quoted else name
    for pattern in _MARKS:
        if (found := pattern.match(name)) and name[found.end() :].strip("_"):
            name = _dunder(name) or name[found.end() :]
            break
    return "test", name


def _dunder(name: str) -> str:
    """`__repr__` of `test___repr__`."""
    found = re.fullmatch(r"test_*?_?(__[a-z]+__)", name)
    return found[1] if found else ""


@lru_cache(4096)
def _surroundings(suites: tuple[str, ...], framework: str) -> tuple[str, tuple[str, ...], str]:
    thing, contexts, about, method = "", [], "", ""
    for place, suite in enumerate(_LEADING.sub("", clean(suite)) for suite in suites):
        if not suite or suite.lower() in _NOISE:
            continue
        if _is_context(suite):
            contexts.append(suite.strip())
        elif _runner_class(suite, framework):
            thing, contexts, method = "", [], ""
        elif looks_like_code(suite) and len(suite) <= 60:
            named = suite.strip("`")
            if method and named[:1].isupper() and not _METHOD.fullmatch(named):  # a case of the method
                thing, contexts, about = method, [], named
            else:
                method = named if _METHOD.fullmatch(named) else ""
                thing, contexts, about = named, [], ""
        elif contexts and suite.lower().startswith("and "):
            contexts[-1] += f" {suite}"
        else:
            thing, about = "", suite.removeprefix("and ") if place else ""
    return thing, tuple(contexts[-2:]), about


def _is_context(suite: str) -> bool:
    """Whether a suite states when or where: `after closing it`, and not `after hooks`, which names hooks."""
    if not _CONTEXT.match(suite) or " " not in suite or suite.startswith("and "):
        return False
    opening, *words = split_title(suite.lower())
    if opening not in _TIME or not words:
        return True
    return words[0] in _ARTICLES or base_of_gerund(words[0]) is not None or phrases.clause(words, 0) is not None


def _runner_class(suite: str, framework: str) -> bool:
    """Whether a suite is a class that only groups tests, so that its name is not of the program."""
    return is_identifier(suite) and (framework in _CLASSES or _TEST_CLASS.fullmatch(suite) is not None)


_CLASSES = listed("""
pytest unittest minitest junit4 junit5 testng nunit xunit mstest tunit phpunit gtest xctest xctest-objc swift-testing
cargo-test go-testing kotlin-test
""")
