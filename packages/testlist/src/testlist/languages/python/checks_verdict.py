"""Whether a Python test passes whatever the code does.  What is not known to be harmless may raise."""

import re
from collections.abc import Sequence
from typing import Any, Final

from tree_sitter import Node

from testlist.kit.bodies import CheckFact, Passes
from testlist.kit.checking import NOTHING, at
from testlist.kit.passing import Passing
from testlist.languages.python.checks_constants import is_true
from testlist.languages.python.checks_expressions import arguments, asserted, bare, literal, values_of
from testlist.languages.python.facts_values import dotted_of
from testlist.languages.python.vocabulary_checks import CASE, INSTANCES
from testlist.sandbox.syntax import named, text

#: a file with any of these may run more around its tests than they say
SURROUNDED: Final = re.compile(
    rb"autouse|addCleanup|def +(?:setup|teardown|setUp|tearDown|async_?[sS]et[uU]p)|pytestmark"
)
#: names that are taken for what Python calls so
REBOUND: Final = re.compile(
    rb"(?:import|as|def|class|for|global|nonlocal)\s+print\b|\bprint\s*(?:,[^()\n]*)?(?::[^()\n]*)?=[^=]"
)
#: what stands above a function or class and changes nothing for it
DECORATORS: Final = frozenset(
    {"pytest.mark.skip", "pytest.mark.skipif", "unittest.skip", "unittest.skipIf", "staticmethod"}
)
BASES: Final = frozenset({"object", "unittest.TestCase", "TestCase"})
#: what is not caught by `except Exception`, or turns what is caught into something else
ESCAPES: Final = re.compile(
    rb"\b(?:fail|skip|xfail|exit|_exit|raises|warns|deprecated_call|SystemExit|KeyboardInterrupt|BaseException|yield|await"
    rb"|importorskip|GeneratorExit|signal)\b"
)
#: statements that run, and may raise, when a module is loaded; expressions that do as statements; blocks of such
#: statements.  A call whose value is asked by a condition or a loop counts no more than one whose value gets a name
RUNS: Final = frozenset({"assert_statement", "raise_statement", "delete_statement"})
CALLS: Final = frozenset({"call", "await"})
BLOCKS: Final = frozenset(
    {"if_statement", "for_statement", "while_statement", "with_statement", "block", "elif_clause", "else_clause"}
)
#: calls that only name a folder
PATHS: Final = frozenset({"sys.path.append", "sys.path.insert"})
#: the condition of a block that a runner does not enter
GUARD: Final = re.compile(r"__name__\s*==")
#: ends of a test that are no failure
LEAVES: Final = frozenset({"pytest.skip", "self.skipTest"})


def is_alone(source: bytes, root: Node) -> bool:
    """Whether nothing in a file runs around its tests, and the names of Python mean what they do."""
    return not SURROUNDED.search(source) and not REBOUND.search(source) and not any(map(_runs, named(root)))


def _runs(node: Node) -> bool:
    """Whether a statement of a module does more than to give names: if it raises, no test of the file passes."""
    if node.type == "if_statement" and GUARD.search(text(node.child_by_field_name("condition"))):
        return False
    if node.type == "expression_statement":
        inner = next(named(node), None)
        return inner is not None and inner.type in CALLS and dotted_of(inner) not in PATHS
    return node.type in RUNS or (node.type in BLOCKS and any(map(_runs, named(node))))


def verdict(function: Node, statements: Sequence[Node], around: Sequence[Node]) -> Passes | None:
    """Why a test passes whatever the code does; None if it may fail, or if nobody knows.

    statements: of the function, without its documentation; around: the classes that it stands in.
    """
    takes = (text(child) for child in named(function.child_by_field_name("parameters")))
    if any(one not in INSTANCES for one in takes) or not all(_is_plain(one) for one in (function, *around)):
        return None
    if function.children and function.children[0].type == "async":
        return None
    return _Reading().verdict(statements)


def _is_plain(node: Node) -> bool:
    """Whether neither decorators nor base classes change what a function or class does."""
    parent = node.parent
    is_decorated = parent is not None and parent.type == "decorated_definition"
    above = [child for child in named(parent) if child.type == "decorator"] if is_decorated else []
    bases = named(node.child_by_field_name("superclasses"))
    return all(dotted_of(inner) in DECORATORS for one in above for inner in [*named(one)][:1]) and all(
        text(base) in BASES for base in bases
    )


class _Values(Passing):
    """What is worked out from literals: a sum raises nothing if both sides are known to be numbers."""

    def literal(self, node: Node) -> Any:
        """See Passing."""
        return literal(node)


class _Reading:
    """The statements of one body, in their order."""

    def __init__(self) -> None:
        self.known: set[str] = set()  # names that were given a harmless value
        self.values = _Values()
        self.constants = self.ignored = 0

    def verdict(self, statements: Sequence[Node]) -> Passes | None:
        if all(is_nothing(one) for one in statements):
            return "empty"
        for number, node in enumerate(statements):
            if self._leaves(node):
                rest = statements[number + 1 :]
                return "unreachable" if any(_checks(one) for one in rest) else self._reason()
            if not self._passes(node):
                return None
        return self._reason()

    def _reason(self) -> Passes:
        return "ignored" if self.ignored else "constant" if self.constants else "no_check"

    def _leaves(self, node: Node) -> bool:
        """Whether a statement ends the test, and does nothing else."""
        if node.type == "return_statement":
            return all(self._is_calm(child) for child in named(node))
        inner = next(named(node), None) if node.type == "expression_statement" else None
        if inner is None or inner.type != "call" or dotted_of(inner) not in LEAVES:
            return False
        return all(literal(child) is not NOTHING for child in arguments(inner)[0])

    def _passes(self, node: Node) -> bool:
        """Whether a statement raises nothing, and is no failed check."""
        inner = next(named(node), None)
        if is_nothing(node):
            return True
        if node.type == "assert_statement":
            self.constants += 1
            # the message is not worked out if the condition holds, and the parts of a pair are not compared
            is_pair = inner is not None and bare(inner).type == "tuple"
            calm = not is_pair or (inner is not None and self._is_calm(inner))
            return inner is not None and calm and all(map(holds, asserted(inner, 1)))
        if node.type == "try_statement":
            self.ignored += 1
            return is_swallowed(node)
        if node.type != "expression_statement" or inner is None:
            return False
        return self._is_checked(inner) or self._is_given(inner) or self._is_calm(inner)

    def _is_checked(self, node: Node) -> bool:
        """`self.assertEqual(1, 1)`."""
        owner, _, name = dotted_of(node).rpartition(".") if node.type == "call" else ("", "", "")
        if owner not in INSTANCES or name not in CASE:
            return False
        self.constants += 1
        meaning, given = CASE[name], arguments(node)[0]
        sides = [side for place in (meaning.subject, meaning.expected) if (side := at(given, place)) is not None]
        is_written = all(literal(one) is not NOTHING for one in given)
        return is_written and is_true(meaning.relation, negated=meaning.negated, sides=values_of(sides))

    def _is_given(self, node: Node) -> bool:
        """`name = harmless`."""
        target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        if node.type != "assignment" or target is None or target.type != "identifier" or value is None:
            return False
        if not self._is_calm(value):
            return False
        self.known.add(text(target))
        found = self.values.value(value)
        self.values.known[text(target)] = NOTHING if found is None else found
        return True

    def _is_calm(self, node: Node) -> bool:
        """Whether an expression raises nothing."""
        node = bare(node)
        if literal(node) is not NOTHING or self.values.value(node) is not NOTHING:
            return True
        if node.type == "identifier":
            return text(node) in self.known
        if node.type == "call":
            plain, by_name = arguments(node)
            return dotted_of(node) == "print" and not by_name and all(map(self._is_calm, plain))
        if node.type == "comparison_operator":
            words = {text(one) for one in node.children_by_field_name("operators")}
            return words <= {"==", "!="} and all(map(self._is_calm, named(node)))
        return node.type in {"list", "tuple", "not_operator", "boolean_operator", "expression_list"} and all(
            map(self._is_calm, named(node))
        )


def is_nothing(statement: Node) -> bool:
    """Whether a statement does nothing."""
    if statement.type in {"pass_statement", "comment"}:
        return True
    inner = next(named(statement), None)
    if statement.type != "expression_statement" or inner is None:
        return False
    return inner.type == "ellipsis" or literal(inner) is not NOTHING


def holds(check: CheckFact) -> bool:
    """Whether a check of literals is known to hold."""
    return check.get("idle") == "constant"


def is_swallowed(node: Node) -> bool:
    """Whether a `try` with a check catches whatever happens in it, and drops it."""
    parts = [child for child in named(node) if child.type != "block"]
    body = node.child_by_field_name("body")
    if len(parts) != 1 or parts[0].type != "except_clause" or body is None or not _checks(body):
        return False
    caught = [child for child in named(parts[0]) if child.type != "block"]
    block = next((child for child in named(parts[0]) if child.type == "block"), None)
    if not all(is_nothing(one) for one in named(block)):
        return False
    error = next(named(caught[0]), None) if caught and caught[0].type == "as_pattern" else at(caught, 0)
    kind = text(error)
    if kind in {"", "BaseException"}:
        return b"yield" not in (body.text or b"") and b"_exit" not in (body.text or b"")
    return kind == "Exception" and not ESCAPES.search(body.text or b"")


def _checks(node: Node) -> bool:
    """Whether a check stands in it."""
    if node.type == "assert_statement":
        return True
    owner, _, name = dotted_of(node).rpartition(".") if node.type == "call" else ("", "", "")
    return (owner in INSTANCES and name in CASE) or any(map(_checks, named(node)))
