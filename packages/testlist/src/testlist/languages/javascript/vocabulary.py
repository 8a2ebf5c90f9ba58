"""The names that runners give to tests, suites and their modifiers."""

from typing import Final

#: names a runner makes global; a call counts if its root is one of them or an alias of one
SUITES: Final = frozenset(
    {"describe", "context", "suite", "module", "fdescribe", "xdescribe", "ddescribe", "fcontext", "xcontext", "xsuite",
     "fsuite"}
)  # fmt: skip
TESTS: Final = frozenset(
    {"it", "test", "specify", "bench", "asyncTest", "fit", "xit", "iit", "ftest", "xtest", "xspecify"}
)
KNOWN: Final = SUITES | TESTS
#: modifiers that decide the status, strongest first
STATUSES: Final = (
    ("todo", "todo"),
    ("skip", "skipped"),
    ("ignore", "skipped"),
    ("fixme", "skipped"),
    ("fails", "xfail"),
    ("failing", "xfail"),
    ("fail", "xfail"),
    ("expectFailure", "xfail"),
    ("only", "focused"),
)
TABLES: Final = frozenset({"each", "for"})
#: modifiers under which a condition decides what becomes of a test
CONDITIONS: Final = frozenset({"skipIf", "runIf", "todoIf", "if"})
#: stands among the modifiers for the call of a function that makes names for tests
MADE: Final = "()"
#: modifiers that leave a call a test
HARMLESS: Final = CONDITIONS | {
    MADE,
    "concurrent", "sequential", "serial", "parallel", "shuffle", "extend", "describe", "default", "cb"
}  # fmt: skip
ALLOWED: Final = HARMLESS | TABLES | {modifier for modifier, _ in STATUSES}
#: members that take a title or a function and make no test of it
NEVER: Final = frozenset(
    {"before", "after", "beforeEach", "afterEach", "beforeAll", "afterAll", "aroundEach", "aroundAll", "setup",
     "teardown", "step", "use", "info", "configure", "override", "macro", "mock", "snapshot", "assert",
     "expect", "call", "apply", "bind", "on", "once"}
)  # fmt: skip
#: objects of the global scope -> the names they offer
GLOBALS: Final = {
    "globalThis": KNOWN,
    "global": KNOWN,
    "window": KNOWN,
    "Deno": frozenset({"test", "bench"}),
    "QUnit": frozenset({"test", "module", "asyncTest", "skip", "todo", "only"}),
}
#: methods of the object a running test is given
SUBTESTS: Final = frozenset({"test", "step"})
#: methods whose callback runs once an element
EACH: Final = frozenset({"forEach", "map", "flatMap", "filter", "reduce", "each", "forEachSeries", "times"})
#: objects whose use tells the runner
TELLING: Final = frozenset({"jest", "vi", "cy", "sinon", "jasmine", "QUnit", "Deno"})
