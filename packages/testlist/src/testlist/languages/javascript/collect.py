"""From calls to rows, by the rules that the runners share and by what each of them does in its own way."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from testlist.kit.rows import row
from testlist.languages.javascript.facts_annotations import Said, said
from testlist.languages.javascript.resolve import Origin
from testlist.languages.javascript.shape import Call, CallFact, JavaScriptFacts
from testlist.languages.javascript.vocabulary import ALLOWED, CONDITIONS, MADE, STATUSES, SUITES, TABLES
from testlist.model import Test

PREFIXES: Final = {"x": "skipped", "f": "focused"}
PREFIXED: Final = frozenset({"it", "test", "specify", "describe", "context", "suite"})


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one runner does in its own way.

    forms: calls without a title that are tests.  subtests: tests may hold tests.  bodiless: status of a
    test that was given nothing to run.  modules: `module` is a suite, which without a body holds what follows.
    annotates: `test.skip()` without a test speaks of the suite that it stands in.  benches: it has `bench`.
    asserts: members that are assertions where no function is given.
    """

    forms: frozenset[str] = frozenset()
    subtests: bool = False
    bodiless: str | None = "todo"
    modules: bool = False
    annotates: bool = False
    benches: bool = False
    asserts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Around:
    """What the suites around a call pass on."""

    suites: tuple[str, ...] = ()
    status: str = "active"
    dynamic: bool = False
    depends: bool = False


@dataclass(frozen=True, slots=True)
class Rows:
    """The tests of one file."""

    path: str
    framework: str
    dialect: Dialect
    lent: Mapping[str, Origin]  # names from other files -> what they turn out to be

    def of(self, facts: JavaScriptFacts) -> Iterator[Test]:
        """In source order."""
        return self.below(facts["calls"], Around())

    def below(self, calls: list[Call], around: Around) -> Iterator[Test]:
        """Calls in one suite."""
        outer = around = self.annotated(calls, around)
        for given in calls:
            if "root" not in given or ("says" in given and self.dialect.annotates):
                continue
            call = self.known(given)
            if call["root"][0] == "@":
                yield from self.below(call["calls"], replace(around, depends=around.depends or depends(call)))
                continue
            if "own" not in call and not ALLOWED.issuperset(call["mods"]):
                continue
            if "calls" not in call:
                yield from self.test(call, around)
            elif call["root"] == "module" and self.dialect.modules and "body" not in call:
                around = self.within(call, outer)
            else:
                # what follows a module without a body belongs to it, but no further module does
                yield from self.below(call["calls"], self.within(call, outer if call["root"] == "module" else around))

    def annotated(self, calls: list[Call], around: Around) -> Around:
        """What surrounds the tests of a suite once the calls among them have spoken."""
        found = said(calls) if self.dialect.annotates else Said()
        status = next((status for modifier, status in STATUSES if modifier in found.modifiers), None)
        return replace(around, status=status or around.status, depends=around.depends or found.depends)

    def known(self, call: CallFact) -> CallFact:
        """A call by a name from another file as the call that it turns out to be."""
        if call["root"][0] != "@" or call["root"][1:] not in self.lent:
            return call
        root, modifiers, makes, title = self.lent[call["root"][1:]]
        if makes is not (MADE in call["mods"][:1]) or title != call.get("at", 0):
            return call
        whole: CallFact = {**call, "root": root, "mods": [*modifiers, *call["mods"]]}
        if "calls" in whole and root not in SUITES and "describe" not in whole["mods"]:
            del whole["calls"]
        return whole

    def within(self, call: CallFact, around: Around) -> Around:
        """Around the calls of a suite; one that this runner gives no name passes on its status only."""
        known = call["root"] != "module" or self.dialect.modules
        titles = (call["title"],) if known and self.takes(call) else ()
        return Around(
            (*around.suites, *call.get("outer", ()), *titles),
            status_of(call) or around.status,
            around.dynamic or is_dynamic(call),
            around.depends or depends(call),
        )

    def takes(self, call: CallFact) -> bool:
        """Whether this runner takes a call with such arguments."""
        if call["root"] == "bench" and not self.dialect.benches:
            return False
        return "form" not in call or call["form"] in self.dialect.forms

    def test(self, call: CallFact, around: Around) -> Iterator[Test]:
        """A test, then those in it."""
        if not self.takes(call) or ("body" not in call and not self.dialect.asserts.isdisjoint(call["mods"])):
            return
        bodiless = None if "body" in call else self.dialect.bodiless
        status = status_of(call) or bodiless or around.status
        test = row(
            self.framework,
            self.path,
            (*around.suites, *call.get("outer", ())),
            call["title"],
            call,
            status=status,
            kind="benchmark" if call["root"] == "bench" else "subtest" if "sub" in call else "test",
            dynamic=around.dynamic or is_dynamic(call),
            depends=around.depends or depends(call),
        )
        if "sub" not in call or self.dialect.subtests:
            yield test
        if self.dialect.subtests:
            yield from self.subtests(call.get("subtests", []), test)

    def subtests(self, calls: list[Call], parent: Test) -> Iterator[Test]:
        """Tests in a test, whatever they are called on."""
        around = Around((*parent.suites, parent.name), parent.status, parent.dynamic, parent.conditional)
        for test in self.below(calls, around):
            yield test._replace(kind="subtest")


def is_dynamic(call: CallFact) -> bool:
    """Whether a call makes a number of tests that is only known when it runs."""
    return "loop" in call or not TABLES.isdisjoint(call["mods"])


def depends(call: CallFact) -> bool:
    """Whether a condition decides if a call's tests run; a name from another file may bring one with it."""
    return "when" in call or not CONDITIONS.isdisjoint(call["mods"])


def status_of(call: CallFact) -> str | None:
    """A call's own status; None if it has none to say."""
    said = {*call["mods"], *call.get("options", ())}
    found = next((status for modifier, status in STATUSES if modifier in said), None)
    if found is None and call["root"][1:] in PREFIXED:
        found = PREFIXES.get(call["root"][0])
    return found
