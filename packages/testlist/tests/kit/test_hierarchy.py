"""Base classes across files."""

import pytest
from testlist.kit.hierarchy import DEEPEST, Hierarchy, LookupOrder, ancestry, descent


@pytest.fixture
def classes() -> Hierarchy:
    return Hierarchy("Case", lambda name: name.endswith("TestCase"))


def test_a_class_ends_in_the_root_through_others(classes: Hierarchy) -> None:
    classes.declare("Cart", ["Shared"])
    classes.declare("Shared", ["Mixin"])
    classes.declare("Shared", ["Case"])
    assert classes.ends("Cart")
    assert not classes.ends("Mixin")


def test_a_class_of_somebody_else_is_told_by_its_name(classes: Hierarchy) -> None:
    classes.declare("Cart", ["ShopTestCase"])
    assert classes.ends("Cart")


def test_what_is_declared_here_is_not_told_by_its_name(classes: Hierarchy) -> None:
    classes.declare("ShopTestCase", ["Object"])
    assert not classes.ends("ShopTestCase")


def test_classes_in_a_circle_end_nowhere(classes: Hierarchy) -> None:
    classes.declare("A", ["B"])
    classes.declare("B", ["A"])
    assert not classes.ends("A")


@pytest.mark.parametrize("first", ["C0", "C900"])
def test_a_chain_of_any_length_ends_in_its_root_whoever_is_asked_for_first(classes: Hierarchy, first: str) -> None:
    for step in range(1_000):
        classes.declare(f"C{step}", [f"C{step + 1}"])
    classes.declare("C1000", ["Case"])
    assert classes.ends(first)
    assert classes.ends("C0")
    assert classes.ends("C500")


INHERITED = {"Cart": ["Shared", "Mixin"], "Shared": ["Base"], "Mixin": ["Base"], "Base": ["Cart"]}


def test_ancestors_are_listed_nearest_first_and_once() -> None:
    assert ancestry("Cart", lambda name: INHERITED[name], 40) == ["Cart", "Shared", "Mixin", "Base"]


def test_ancestors_beyond_a_number_are_not_looked_at() -> None:
    assert ancestry("Cart", lambda name: INHERITED[name], 3) == ["Cart", "Shared", "Mixin"]


def descended(inherited: dict[str, list[str]], most: int) -> list[str]:
    return descent("Cart", lambda name: inherited[name], lambda name: name, most)


def test_a_descent_takes_a_base_where_it_is_met_first() -> None:
    inherited = {"Cart": ["Totals", "Shared"], "Totals": ["Money"], "Money": [], "Shared": ["Totals", "Cart"]}
    assert descended(inherited, 40) == ["Cart", "Totals", "Money", "Shared"]


def test_a_descent_goes_so_far_and_no_further() -> None:
    assert descended(INHERITED, 3) == ["Cart", "Shared", "Base"]


def lookup(inherited: dict[str, list[str]]) -> LookupOrder[str]:
    return LookupOrder(lambda name: inherited[name], lambda name: name)


def test_members_are_looked_up_in_all_that_a_base_inherits_before_the_next_base() -> None:
    inherited = {"Cart": ["Shared", "Mixin"], "Shared": ["Old", "Base"], "Old": [], "Mixin": ["Base"], "Base": []}
    assert lookup(inherited).of("Cart") == ["Cart", "Shared", "Old", "Mixin", "Base"]


def test_a_class_that_inherits_itself_is_looked_up_once() -> None:
    assert lookup({"A": ["B"], "B": ["A"]}).of("A") == ["B", "A"]


def test_a_chain_of_any_length_is_looked_up_so_far_and_no_further() -> None:
    chain = {f"C{step}": [f"C{step + 1}"] for step in range(5_000)}
    assert lookup(chain).of("C0") == [f"C{step}" for step in range(DEEPEST + 1)]
