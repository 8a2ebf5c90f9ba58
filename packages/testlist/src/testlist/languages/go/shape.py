"""The facts of a Go file, as they pass from the parsing child to the engine."""

from typing import NotRequired, TypedDict, cast

from testlist.model import Facts


class Skip(TypedDict):
    """What the first statement of a body says.  skip: it leaves the test out; when: a condition decides."""

    skip: bool
    when: NotRequired[bool]


class SubtestFact(Skip):
    """`t.Run("name", ...)`.  outer: names of the subtests around it; line, column, end: 1-based."""

    name: str
    outer: list[str]
    line: int
    column: int
    end: int


class Body(Skip):
    """What the statements of a function say."""

    subtests: list[SubtestFact]


class FunctionFact(Body):
    """A function that may be a test.  kind: Test, Benchmark, Fuzz or Example.

    line, column, end: 1-based.  parameters: their types, as they are written; result: whether there is one;
    output: whether an example says what it prints.
    """

    name: str
    kind: str
    line: int
    column: int
    end: int
    parameters: list[str]
    result: bool
    output: bool


class MethodFact(FunctionFact):
    """A method that may be a test.  type: that of its receiver."""

    type: str


class SuiteFacts(TypedDict, total=False):
    """What a file says of suites; what is empty is left out.

    structs: name -> what it embeds; makers: function -> the type it returns; runs: types, or calls `name()` of
    functions, whose values are run as suites, `?` for others.  testify, gocheck: names that these packages have;
    imports: name -> path, of other packages that structs or runs speak of; dots: paths of those without a name;
    helpers: paths of packages that may run suites.
    """

    structs: dict[str, list[str]]
    makers: dict[str, str]
    runs: list[str]
    testify: list[str]
    gocheck: list[str]
    imports: dict[str, str]
    dots: list[str]
    helpers: list[str]


class SpecFact(TypedDict):
    """A call of Ginkgo or GoConvey that declares a test, or a group of them.

    role: see `vocabulary`.  made: at run time, perhaps several times; when: a condition decides; skip: its body skips.
    cases: entries of a table; inner: what stands in it; function: around it.
    """

    role: str
    title: str
    line: int
    column: int
    end: int
    status: NotRequired[str]
    made: NotRequired[bool]
    when: NotRequired[bool]
    skip: NotRequired[bool]
    cases: NotRequired[int]
    inner: NotRequired[list["SpecFact"]]
    function: NotRequired[str]


class SpecFacts(TypedDict, total=False):
    """Calls of Ginkgo and of GoConvey that stand in no other."""

    specs: list[SpecFact]
    conveys: list[SpecFact]


class GoFacts(SuiteFacts, SpecFacts, total=False):
    """One file; of its lists only `testing` and `functions` stand there when they are empty.

    testing: names bound to package testing; constrained: it has a build constraint.
    """

    testing: list[str]
    functions: list[FunctionFact]
    methods: list[MethodFact]
    constrained: bool


def shape(facts: Facts) -> GoFacts:
    """Facts by their types."""
    return cast(GoFacts, facts)
