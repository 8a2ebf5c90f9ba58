"""What a name may mean costs the same however many classes and packages there are."""

import pytest
from testlist.languages.scala.frameworks.munit import MUNIT
from testlist.languages.scala.frameworks.ziotest import ZIO_TEST
from testlist.languages.scala.resolve import Resolver
from testlist.languages.scala.resolve_kinds import Kinds
from testlist.languages.scala.resolve_names import LONGEST, MANY, Found, Names, Roots
from testlist.languages.scala.shape import ClassFact, Import, ScalaFacts
from testlist.project import Project


class Sliced(list[Found]):
    """A list that nobody goes through."""

    def __iter__(self) -> None:  # type: ignore[override]  # it never returns
        raise AssertionError("all of it is looked at")


def declared(name: str, base: str, line: int = 1) -> ClassFact:
    return {"line": line, "column": 1, "end": line, "k": "class", "name": name, "bases": [base]}


def learnt(imports: list[Import], *classes: ClassFact) -> Names:
    names = Names()
    facts: ScalaFacts = {"imports": imports, "classes": list(classes)}
    names.learn("test/A.scala", facts)
    return names


def test_of_thousands_of_classes_of_one_name_some_are_looked_at() -> None:
    names = learnt([], *(declared("Spec", "other.Spec", line) for line in range(1, 3_000)))
    names.simple["Spec"] = Sliced(names.simple["Spec"])
    one = next(names.all("test/A.scala"))
    assert len(names.meaning(one, "other.Spec", Roots(())).classes) == MANY


def test_of_the_names_by_imports_of_whole_packages_few_are_kept() -> None:
    resolver = Resolver(Project({}, {}))
    for framework in (MUNIT, ZIO_TEST):
        framework.scope(resolver.project)
    dialects = resolver.project.once(Resolver.of).dialects
    names = learnt([(f"zio.a{number}", "*") for number in range(90)] + [("zio", "*")], declared("A", "test.ShopSuite"))
    kinds = Kinds(names, dialects)
    [kept] = kinds.foreign.values()
    assert len(kept) <= len(dialects) + 1
    assert [len(seeds) for seeds in kinds.guessed()] == [0, 1]


def test_a_class_whose_whole_name_is_too_long_has_its_own_alone() -> None:
    inner = declared("Inner", "Base")
    names = learnt([], {**declared("A" * LONGEST, "Base"), "classes": [inner]})
    assert "Inner" in names.simple
    assert not any(len(name) > LONGEST for name in names.whole)


def test_what_runs_the_classes_is_not_asked_while_files_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(kinds: Kinds) -> None:
        raise AssertionError("worked out before all files are read")

    monkeypatch.setattr(Kinds, "__post_init__", asked)
    project = Project(dict.fromkeys(["test/ASuite.scala", "test/Base.scala"], "0" * 40), {})
    scope = MUNIT.scope(project)
    facts: ScalaFacts = {"classes": [declared("ASuite", "Base")]}
    assert scope.needs({"test/ASuite.scala": {**facts}}) == {"test/Base.scala"}
