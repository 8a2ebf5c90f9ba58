"""What a child reads from the bodies of functions, in the same words for every language."""

from typing import Any, Final, Literal, NotRequired, TypedDict

#: how a check relates its subject to what is expected; `custom`: a function from outside decides, by its name
RELATIONS: Final = (
    "equal", "identical", "approximate", "greater", "greater_equal", "less", "less_equal",
    "contains", "matches", "starts_with", "ends_with", "length", "empty", "type", "has", "truthy", "none",
    "raises", "warns", "logs", "called", "called_with", "snapshot", "fails", "custom",
)  # fmt: skip
#: an order that must not hold -> what has to
OPPOSITES: Final = {"less": "greater_equal", "less_equal": "greater", "greater": "less_equal", "greater_equal": "less"}
#: letters of an expression that are kept
SHOWN: Final = 200
#: checks of one function that are kept, calls of it, and functions of one file
MOST_CHECKS, MOST_CALLS, MOST_FUNCTIONS = 200, 200, 5_000

#: why a check decides nothing: it compares what is written there, or stands where nothing comes to, or its failure is
#: caught
Idle = Literal["constant", "unreachable", "ignored"]
#: why a test passes whatever the code does.  It is said only where all of its body, and what is around it in the file,
#: is known to raise nothing: a doubt means silence
Passes = Literal["empty", "no_check", "constant", "unreachable", "ignored"]


class CheckFact(TypedDict):
    """One check as it is written.  line: of the statement; subject, expected: source; value: of a literal.

    negated: the relation must not hold; tolerance: source; message: a pattern that a raised error must match.
    nested: in a function inside of the function, which somebody else may call.
    """

    line: int
    relation: str
    negated: NotRequired[bool]
    subject: NotRequired[str]
    expected: NotRequired[str]
    value: NotRequired[Any]
    tolerance: NotRequired[str]
    message: NotRequired[str]
    idle: NotRequired[Idle]
    nested: NotRequired[bool]


class BodyFact(TypedDict):
    """One function.  name: with those around it, by dots; line, end: its first and last; calls: what it calls, once.

    passes: why a test with this body passes whatever the code does; doc: the first line of its documentation.
    around: the class around it where its name, as a title, does not say so.
    """

    name: str
    line: int
    end: int
    checks: list[CheckFact]
    calls: list[str]
    passes: NotRequired[Passes]
    doc: NotRequired[str]
    around: NotRequired[str]


class BodiesFact(TypedDict):
    """One file.

    imports: name in it -> where it comes from: leading dots, module, and what of it, as `.shop:Cart`, or as the home of
    its language takes it.  bases: class -> those whose methods it has as well, in the order in which they are looked
    up; an empty name means what is outside of classes.  unit: what the names of the file belong to, as its package.
    hooks: classes around whose tests the file runs something; an empty name for all tests.
    """

    functions: list[BodyFact]
    imports: NotRequired[dict[str, str]]
    bases: NotRequired[dict[str, list[str]]]
    unit: NotRequired[str]
    hooks: NotRequired[list[str]]
