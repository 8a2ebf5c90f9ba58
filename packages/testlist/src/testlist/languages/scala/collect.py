"""Rows of Scala: what stands in classes that a run makes tests of, and in what these are built on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from testlist.kit.rows import row
from testlist.languages.scala.resolve import Known
from testlist.languages.scala.resolve_kinds import annotation
from testlist.languages.scala.resolve_names import Found
from testlist.languages.scala.shape import CallFact, ClassFact, MethodFact
from testlist.languages.scala.vocabulary_dialects import NEVER, Dialect
from testlist.model import Test

#: words of others that are looked through, one standing for the next
STEPS: Final = 10
#: what stands for the subject before it
PRONOUNS: Final = frozenset({"it", "they", "ignore"})
BLOCK: Final = " {}"
ASSUMES: Final = frozenset({"=assume", "=assumeTrue", "=assumeFalse"})


@dataclass(frozen=True, slots=True)
class Around:
    """What classes and groups pass on.  verb: begins the names of tests."""

    suites: tuple[str, ...]
    status: str = "active"
    verb: str = ""
    dynamic: bool = False
    when: bool = False


@dataclass(slots=True)
class Reading:
    """One class in one framework.  subject: what `it` stands for."""

    found: Found
    dialect: Dialect
    known: Known
    subject: str = ""

    def rows(self) -> Iterator[Test]:
        """Its tests."""
        around = Around(self.found.names, self.status(self.found.item.get("marks", ())) or "active")
        yield from self.methods(self.found.item, around)
        yield from self.calls(self.found.item.get("calls", ()), around)

    def methods(self, item: ClassFact, around: Around) -> Iterator[Test]:
        """Methods that are tests, also in objects in each other, as they group them."""
        if self.dialect.methods is not NEVER or self.dialect.annotated is not NEVER:
            for method in item.get("methods", ()):
                marks = [annotation(self.known.names, self.found, one, self.dialect) for one in method.get("marks", ())]
                named = self.dialect.methods.search(method["name"]) and not method.keys() & {"params", "hidden"}
                if any(marks) or named:
                    yield self.method(method, marks, around)
        if self.dialect.methods is not NEVER:
            for inner in item.get("classes", ()):
                if inner["k"] == "object" and inner["name"]:
                    yield from self.methods(inner, self.inside(inner, around))

    def inside(self, inner: ClassFact, around: Around) -> Around:
        """What an object passes on that groups tests."""
        status = self.status(inner.get("marks", ())) or around.status
        return Around((*around.suites, inner["name"]), status)

    def method(self, method: MethodFact, marks: Sequence[str], around: Around) -> Test:
        """A method as a row."""
        given = method.get("marks", ())
        status = self.status(given) or "active"
        return row(
            self.dialect.framework,
            self.found.path,
            around.suites,
            method["name"],
            method,
            status="skipped" if around.status == "skipped" else status,
            dynamic=any(map(self.dialect.repeats.fullmatch, marks)),
            depends=any(map(self.dialect.conditions.search, (*given, *self.found.item.get("marks", ())))),
        )

    def calls(self, calls: Sequence[CallFact], around: Around) -> Iterator[Test]:
        """What calls in a class declare."""
        last = ""
        for call in calls:
            word = self.word(call["word"])
            if word == "behavior":
                self.subject = call["title"]
            elif word in self.dialect.groups:
                title = last if call["title"] in PRONOUNS and "open" in call else call["title"]
                last = title
                yield from self.calls(call.get("calls", ()), self.grouped(call, title, around))
            elif word in self.dialect.tests and ("on" not in call or self.dialect.receivers):
                yield from self.test(call, word, around)
            else:
                yield from self.calls(call.get("calls", ()), self.passing(call, around))

    def word(self, word: str) -> str:
        """What a word stands for, through methods of the repository."""
        for _ in range(STEPS):
            if word in self.dialect.words:
                break
            word = self.known.passes.get(word, word)
        return word

    def passing(self, call: CallFact, around: Around) -> Around:
        """What a call passes on that is no group."""
        dynamic, when = around.dynamic or "loop" in call, around.when or "when" in call
        return Around(around.suites, around.status, around.verb, dynamic, when)

    def grouped(self, call: CallFact, title: str, around: Around) -> Around:
        """What a group passes on."""
        marks = call.get("marks", ())
        status = self.status(marks) or around.status
        when = around.when or "when" in call or self.depends(marks)
        dynamic = around.dynamic or "loop" in call or ("open" in call and title == call["title"])
        verb = call.get("verb", "")
        name = f"{around.verb} {title}".strip() if self.dialect.prefixes else f"{title} {verb}".strip()
        return Around((*around.suites, name), status, verb if self.dialect.prefixes else "", dynamic, when)

    def test(self, call: CallFact, word: str, around: Around) -> Iterator[Test]:
        """A test, or a group if it holds some."""
        if self.dialect.nests and "calls" in call:
            inner = [*self.calls(call["calls"], self.grouped(call, call["title"], around))]
            if inner:
                yield from inner
                return
        name, suites = call["title"], around.suites
        marks = [*call.get("marks", ()), word, call["word"]]
        if "verb" in call:
            subject = call.get("subject", "")
            if subject not in PRONOUNS:
                self.subject = subject
            marks.append(subject if subject == "ignore" else "")
            suites = (*suites, self.subject) if self.subject else suites
            name = f"{call['verb']} {name}"
        elif around.verb:
            name = f"{around.verb} {name}"
        own = self.status(marks)
        yield row(
            self.dialect.framework,
            self.found.path,
            suites,
            name,
            call,
            status="skipped" if around.status == "skipped" else own or around.status,
            dynamic=around.dynamic or bool({"open", "loop"} & call.keys()) or word in self.dialect.many,
            depends=around.when or "when" in call or self.depends(marks),
        )

    def status(self, marks: Sequence[str]) -> str | None:
        """The status that marks give; that of a test which never runs wins."""
        found = [
            self.dialect.statuses[mark.rpartition(".")[2]]
            for mark in marks
            if mark.rpartition(".")[2] in self.dialect.statuses
        ]
        return "skipped" if "skipped" in found else next(iter(found), None)

    def depends(self, marks: Sequence[str]) -> bool:
        """Whether marks say that a condition decides if a test runs."""
        return any(mark in ASSUMES or self.dialect.conditions.fullmatch(mark) for mark in marks)
