"""Kotest: the tests of its ten styles of specification, by the words each style has for them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from testlist.languages.jvm.resolve_specifications import Row, Specifications
from testlist.languages.jvm.scope import framework
from testlist.languages.jvm.shape import CallFact, Members
from testlist.languages.jvm.vocabulary import BUILDERS


class Style(NamedTuple):
    """Words of one style.  tests: calls that are one; groups: calls that hold them."""

    tests: frozenset[str]
    groups: frozenset[str]


def _style(tests: str, groups: str = "") -> Style:
    return Style(frozenset(tests.split()), frozenset(groups.split()))


TEXT: Final = frozenset({""})
INFIX: Final = ("should", "Should", "when", "When", "xshould", "xShould", "xwhen", "xWhen")
STYLES: Final = {
    "AnnotationSpec": Style(frozenset(), frozenset()),
    "BehaviorSpec": _style("then Then", "context Context given Given when When and And"),
    "DescribeSpec": _style("it", "describe context"),
    "ExpectSpec": _style("expect", "context"),
    "FeatureSpec": _style("scenario", "feature"),
    "FreeSpec": Style(TEXT, frozenset({"-"})),
    "FunSpec": _style("test", "context"),
    "ShouldSpec": _style("should", "context"),
    "StringSpec": Style(TEXT, frozenset()),
    "WordSpec": Style(TEXT, frozenset(f"{word} {{}}" for word in INFIX)),
}
#: calls that make a test, or a group, of every value they are given
DATA: Final = frozenset(
    {"withData", "withTests", "withContexts", "withDescribes", "withIts", "withGivens", "withWhens", "withThens",
     "withAnds", "withFeatures", "withScenarios", "withShoulds", "withExpects"}
)  # fmt: skip
PREFIXES: Final = {"x": "skipped", "f": "focused"}


@dataclass(frozen=True, slots=True)
class Around:
    """What groups pass on."""

    suites: tuple[str, ...]
    status: str = "active"
    dynamic: bool = False


def rows(suites: tuple[str, ...], item: Members, style: str) -> Iterator[Row]:
    """Tests of a specification: of its body, and of its functions, which its body may call."""
    around = Around(suites)
    yield from _rows(item.get("calls", []), style, around)
    for method in item.get("methods", []):
        if not style_named(method.get("receiver", "")):
            yield from _rows(method.get("calls", []), style, around)


def factories(suites: tuple[str, ...], item: Members) -> Iterator[Row]:
    """Tests that do not depend on the class they stand in: of factories, and of functions that extend a style."""
    yield from _built(item.get("calls", []), Around(suites))
    for method in item.get("methods", []):
        style = style_named(method.get("receiver", ""))
        if style:
            yield from _rows(method.get("calls", []), style, Around(suites))
        else:
            yield from _built(method.get("calls", []), Around(suites))


def style_named(receiver: str) -> str:
    """The style that a type of Kotest's belongs to, by its name."""
    name = receiver.rpartition(".")[2]
    return next((style for style in STYLES if name.startswith(style)), "")


def _built(calls: list[CallFact], around: Around) -> Iterator[Row]:
    for call in calls:
        if call["word"] in BUILDERS:
            style = call["word"][0].upper() + call["word"][1:]
            yield from _rows(call.get("calls", []), style, around)
        yield from _built(call.get("calls", []), around)  # factories may include others


def _rows(calls: list[CallFact], style: str, around: Around) -> Iterator[Row]:
    words = STYLES[style]
    for call in calls:
        word, prefix = split(call["word"], words)
        status = status_of(call, prefix) or around.status
        dynamic = around.dynamic or "loop" in call
        if word in BUILDERS:
            continue
        if word in words.tests and (call["title"] or not word):
            yield Row(call, call["title"], around.suites, status, dynamic)
        elif word in DATA:
            inner = list(_rows(call.get("calls", []), style, replace(around, dynamic=True)))
            yield from inner or [Row(call, word, around.suites, status, dynamic=True)]
        elif word in words.groups:
            yield from _rows(call.get("calls", []), style, Around((*around.suites, call["title"]), status, dynamic))
        elif "calls" in call:
            yield from _rows(call["calls"], style, replace(around, dynamic=dynamic))


def split(word: str, words: Style) -> tuple[str, str]:
    """A call's word without the prefix that changes its status."""
    known = words.tests | words.groups
    prefixed = word[:1] in PREFIXES and word not in known and word[1:] in known and len(word) > 1
    return (word[1:], word[0]) if prefixed else (word, "")


def status_of(call: CallFact, prefix: str) -> str | None:
    """A call's own status."""
    title = call["title"]
    if prefix == "x" or title.startswith("!") or "off" in call:
        return "skipped"
    return "focused" if prefix == "f" or title.startswith("f:") else None


KOTEST: Final = framework(
    "kotest",
    Specifications(
        framework="kotest",
        package="io.kotest.core.spec.style",
        styles=tuple(STYLES),
        methods="AnnotationSpec",
        rows=rows,
        factories=factories,
    ),
)
