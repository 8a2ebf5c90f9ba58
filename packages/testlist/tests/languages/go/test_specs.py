"""Specs of Ginkgo where the shape of a file is unusual."""

from testlist.languages.go.collect_specs import Around, specs
from testlist.languages.go.facts import extract
from testlist.languages.go.shape import shape

HEAD = 'package a\nimport . "github.com/onsi/ginkgo/v2"\n'


def names(source: str) -> list[tuple[tuple[str, ...], str]]:
    facts = shape(extract((HEAD + source).encode(), "go"))
    return [(test.suites, test.name) for test in specs("ginkgo", "a_test.go", facts.get("specs", []), Around())]


def test_a_value_of_new_does_not_cost_the_specs_around_it() -> None:
    table = 'DescribeTable("builds", func(b *B) {}, Entry("one", new("/a").Path("b")))'
    source = f'var _ = Describe("a", func() {{ {table}; It("b", func() {{}}) }})'
    assert names(source) == [(("a",), "builds"), (("a",), "b")]
    assert names("func f() { x := new(B) }\nvar _ = It(`raw`, f)") == [((), "raw")]


def test_specs_behind_a_return_under_a_condition_may_not_run() -> None:
    source = 'var _ = Describe("a", func() { It("b", f); if short { return }; It("c", f) })'
    facts = shape(extract((HEAD + source).encode(), "go"))
    found = specs("ginkgo", "a_test.go", facts["specs"], Around())
    assert [(test.name, test.conditional) for test in found] == [("b", False), ("c", True)]


def test_a_method_of_a_value_that_is_called_like_a_group_is_none() -> None:
    assert names('func f() { ctx.WithContext("a", b); mock.When("c", d) }') == []
    assert names('func f() { g.Describe("a", func() { It("b", f) }) }') == [(("a",), "b")]


def test_groups_in_groups_without_end_give_what_could_be_read() -> None:
    deep = 'Describe("a", func() { It("b", f); ' * 3000 + "})" * 3000
    found = names(f"var _ = {deep}")
    assert found[0] == (("a",), "b")
    assert 10 < len(found) < 3000


def test_a_title_of_thousands_of_parts_is_one() -> None:
    [(_, name)] = names("var _ = It(" + '"a" + ' * 5000 + '"a", f)')
    assert name == "a" * 5001
