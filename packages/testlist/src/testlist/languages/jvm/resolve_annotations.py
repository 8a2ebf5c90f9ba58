"""Annotations: which make a method a test, and of which runner; which skip it."""

import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Final, TypeVar, cast

from testlist.languages.jvm.resolve_names import Found, Names
from testlist.languages.jvm.shape import Mark

#: annotation -> (runner, whether it runs many times); kotlin.test is what the build makes of it
TESTS: Final = {
    "org.junit.Test": ("junit4", False),
    "org.junit.experimental.theories.Theory": ("junit4", True),
    "org.junit.jupiter.api.Test": ("junit5", False),
    "org.junit.jupiter.api.RepeatedTest": ("junit5", True),
    "org.junit.jupiter.api.TestFactory": ("junit5", True),
    "org.junit.jupiter.api.TestTemplate": ("junit5", True),
    "org.junit.jupiter.params.ParameterizedTest": ("junit5", True),
    "org.testng.annotations.Test": ("testng", False),
    "kotlin.test.Test": ("kotlin.test", False),
}
#: end in `Test` and make no test
NO_TESTS: Final = frozenset(
    {"BeforeTest", "AfterTest", "VisibleForTest", "SmallTest", "MediumTest", "LargeTest", "FlakyTest", "UiThreadTest",
     "ManualTest", "IgnoreTest", "NoTest", "NotTest", "DisabledTest"}
)  # fmt: skip
SKIPS: Final = {
    "org.junit.Ignore": "skipped",
    "org.junit.jupiter.api.Disabled": "skipped",
    "org.testng.annotations.Ignore": "skipped",
    "kotlin.test.Ignore": "skipped",
    "io.kotest.core.annotation.Ignored": "skipped",
    "spock.lang.Ignore": "skipped",
    "spock.lang.PendingFeature": "xfail",
    "spock.lang.IgnoreRest": "focused",
}
#: the same by their last word, for names that no import explains
SKIP_WORDS: Final = {name.rpartition(".")[2]: status for name, status in SKIPS.items()}
#: annotations under which a condition decides; the extensions of many libraries are called like JUnit's own, and those
#: that a project expects and that are kotlin.test's `Ignore` on one platform like `NoJs` or `IgnoreOnNative`
CONDITION: Final = re.compile(
    r"(?:Enabled|Disabled)(?:If|On|For|In|When|Unless)(?![a-z])|(?:Requires|IgnoreIf)$"
    r"|(?:No|Ignore|Disable|Skip)(?:On|In)?(?:J[sS]|J[vV][mM]|Native|Wasm(?:Js|Wasi)?|Android|I[oO][sS]|Apple|Posix)$"
)
CONFIGURING: Final = frozenset(
    {"BeforeSuite", "AfterSuite", "BeforeTest", "AfterTest", "BeforeGroups", "AfterGroups", "BeforeClass", "AfterClass",
     "BeforeMethod", "AfterMethod", "DataProvider", "Factory", "Configuration", "ObjectFactory", "Parameters"}
)  # fmt: skip
STEPS: Final = 4  # annotations on annotations


Verdict = TypeVar("Verdict")
Judge = Callable[[Names, Found, str, int], Verdict]


def once(judge: Judge[Verdict]) -> Judge[Verdict]:
    """Judge each name of a class once: most methods of a file have the same annotations."""

    @wraps(judge)
    def judged(names: Names, found: Found, name: str, steps: int) -> Verdict:
        key = (judge, found.path, id(found.item), name, steps)
        if key not in names.judged:
            names.judged[key] = judge(names, found, name, steps)
        return cast(Verdict, names.judged[key])

    return judged


@once
def runner_of(names: Names, found: Found, name: str, steps: int) -> tuple[str, bool] | None:
    """What an annotation makes of a method: (runner, runs many times); None: no test."""
    for candidate in names.candidates(found, name):
        if candidate in TESTS:
            return TESTS[candidate]
    meaning = names.meaning(found, name)
    word = name.rpartition(".")[2]
    if not isinstance(meaning, Found):
        external = names.explains(found, name) and word.endswith("Test") and word not in NO_TESTS and not steps < STEPS
        return ("junit5", True) if external else None
    if meaning.item["k"] != "annotation" or steps <= 0:
        return None
    inner = (runner_of(names, meaning, one[0], steps - 1) for one in meaning.item.get("marks", []))
    best = next((one for one in inner if one is not None), None)
    return best if best and best[0] == "junit5" else None  # the others look at no annotation's annotations


def status_of(names: Names, found: Found, marks: Sequence[Mark]) -> str | None:
    """Status that annotations give; None if they give none."""
    for name, *_ in marks:
        status = _status(names, found, name, STEPS)
        if status:
            return status
    return None


@once
def _status(names: Names, found: Found, name: str, steps: int) -> str | None:
    for candidate in names.candidates(found, name):
        if candidate in SKIPS:
            return SKIPS[candidate]
    meaning = names.meaning(found, name)
    if isinstance(meaning, Found):
        if meaning.item["k"] != "annotation" or steps <= 0:
            return None
        inner = (_status(names, meaning, one[0], steps - 1) for one in meaning.item.get("marks", []))
        return next((status for status in inner if status), None)
    return None if names.explains(found, name) else SKIP_WORDS.get(name)


def depends(names: Names, found: Found, marks: Sequence[Mark]) -> bool:
    """Whether an annotation, or one on it, lets a condition decide."""
    return any(_depends(names, found, name, STEPS) for name, *_ in marks)


@once
def _depends(names: Names, found: Found, name: str, steps: int) -> bool:
    meaning, is_condition = names.meaning(found, name), CONDITION.match(name.rpartition(".")[2]) is not None
    if not isinstance(meaning, Found):
        return is_condition
    if meaning.item["k"] != "annotation" or steps <= 0:
        return False
    return is_condition or any(_depends(names, meaning, one[0], steps - 1) for one in meaning.item.get("marks", []))


def is_disabled(marks: Sequence[Mark]) -> bool:
    """TestNG's `@Test(enabled = false)`."""
    return any("enabled=false" in "".join(one[1].split()) for one in marks if len(one) > 1 and one[0].endswith("Test"))


def repeats(marks: Sequence[Mark]) -> bool:
    """TestNG's data providers and invocation counts."""
    return any(word in one[1] for one in marks if len(one) > 1 for word in ("dataProvider", "invocationCount"))
