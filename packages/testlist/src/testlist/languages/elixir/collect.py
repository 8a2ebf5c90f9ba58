"""Rows of Elixir: tests of modules that are test cases, and of macros that these call or use."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from testlist.kit.rows import row
from testlist.languages.elixir.resolve import Known
from testlist.languages.elixir.shape import ElixirFacts, ModuleFact, TestFact
from testlist.languages.elixir.vocabulary import USING
from testlist.model import Test

FRAMEWORK: Final = "exunit"


@dataclass(frozen=True, slots=True)
class Reading:
    """One file.  runs: modules in it are loaded; excluded: tags that its project leaves out."""

    path: str
    known: Known
    runs: bool
    excluded: frozenset[str]

    def rows(self, facts: ElixirFacts) -> Iterator[Test]:
        """Its tests."""
        modules = {module["name"]: module for module in facts.get("modules", ())}
        for fact in facts.get("tests", ()):
            module = modules.get(fact["module"])
            if self.written(fact) if "macro" in fact else self.runs and self.declares(fact, module):
                yield self.row(fact, module)

    def declares(self, fact: TestFact, module: ModuleFact | None) -> bool:
        """Whether a call in the body of a module is a test."""
        if "word" in fact and fact["word"] not in self.known.open:
            return False
        return self.known.is_case(module)

    def written(self, fact: TestFact) -> bool:
        """Whether what a macro writes is a test here, and not where the macro is called."""
        macro = fact.get("macro", "")
        if "word" in fact:
            return False
        if macro == USING:
            return fact["module"] in self.known.used
        return macro in self.known.called and not ("open" in fact and macro in self.known.titled)

    def row(self, fact: TestFact, module: ModuleFact | None) -> Test:
        """One row."""
        cases, dynamic = fact.get("cases"), fact.get("dynamic", False)
        sets = None if module is None else module.get("cases")
        if sets is not None:
            cases = sets * (cases if dynamic and cases else 1) or None
            dynamic = True
        describe = fact.get("describe")
        return row(
            FRAMEWORK,
            self.path,
            (fact["module"],) if describe is None else (fact["module"], describe),
            fact["name"],
            fact,
            status=fact.get("status", "active"),
            kind=fact.get("kind", "test"),
            dynamic=dynamic,
            cases=cases,
            depends="when" in fact or not self.excluded.isdisjoint(fact.get("tags", ())),
        )
