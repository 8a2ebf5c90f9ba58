"""Hamcrest's `assertThat(reason, a.isEmpty())`, whose reason may be a variable: told by what both are declared as."""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact
from testlist.kit.checking import made
from testlist.languages.jvm.checks_calls import Call, bare, call_of, literal, parts
from testlist.languages.jvm.vocabulary_checks import OPERATORS
from testlist.sandbox.syntax import line, text

#: a declaration of a variable, a parameter or a field: of Java, and of Kotlin
DECLARED: Final = re.compile(
    rb"\b(?P<type>[A-Za-z_][\w.]*+(?:<[^<>;(){}]{0,200}+>)?(?:\[\])*+)\s++(?P<name>[A-Za-z_]\w*+)\s*+(?=[=;,):])"
    rb"|\b(?P<called>[A-Za-z_]\w*+)\s*+:\s*+(?P<kind>[A-Z]\w*+)\b(?!\s*+[.(])"
)
#: words that stand before a name and declare nothing
WORDS: Final = frozenset(
    {"return", "throw", "new", "else", "assert", "case", "instanceof", "in", "is", "as", "yield", "val", "var"}
)
TEXT, TRUTH = "String", frozenset({"boolean", "Boolean"})
#: methods that answer yes or no, by their names
ANSWERS: Final = re.compile(
    r"(?:is|has|can|are|was|should|contains?|equals|matches|startsWith|endsWith|exists)(?![a-z])\w*"
)
JOINTS: Final = frozenset({"&&", "||"})


class Types:
    """What the names of a file or function are declared as, read when somebody asks."""

    def __init__(self, source: bytes) -> None:
        self.source = source

    @cached_property
    def known(self) -> Mapping[str, str]:
        """Name -> its type; a name that has several is left empty."""
        found: dict[str, str] = {}
        for one in DECLARED.finditer(self.source):
            kind, name = (one["type"] or one["kind"]).decode(), (one["name"] or one["called"]).decode()
            if kind not in WORDS:
                found[name] = kind if found.get(name, kind) == kind else ""
        return found


def reasoned(call: Call, own: Types, around: Types) -> CheckFact | None:
    """The check of a condition behind a reason; None for any other call.  own, around: of the function, of its file."""
    if call.name != "assertThat" or len(call.given) != 2:
        return None

    def kind(node: Node) -> str:
        name = text(node).removeprefix("this.")
        return own.known.get(name, around.known.get(name, "")) if name.isidentifier() else ""

    reason, condition = call.given[0], bare(call.given[1])
    is_told = kind(reason) == TEXT and (kind(condition) in TRUTH or _answers(condition))
    if not is_told and not _is_truth(condition):
        return None
    return made(line(call.node), "truthy", condition, literal=literal)


def _is_truth(node: Node) -> bool:
    """Whether an expression is a truth by its form alone: `!a`, `a == b`, `a instanceof B`."""
    signs = {child.type for child in node.children if not child.is_named}
    inner = len(parts(node))
    return (inner == 2 and bool(signs & (OPERATORS.keys() | JOINTS)) and call_of(node) is None) or (
        inner == 1 and node.type == "unary_expression" and "!" in signs
    )


def _answers(node: Node) -> bool:
    """Whether it is a method of a value that answers yes or no; matchers are functions, or methods of classes."""
    call = call_of(node)
    if call is None or call.owner is None or ANSWERS.fullmatch(call.name) is None:
        return False
    owner = text(bare(call.owner)).rpartition(".")[2]
    return not owner[:1].isupper()
