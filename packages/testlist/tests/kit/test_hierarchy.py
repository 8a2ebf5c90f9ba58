"""Base classes across files."""

import pytest
from testlist.kit.hierarchy import DEEPEST, LONGEST, Hierarchy, LookupOrder, ancestry, descent
from testlist_harness.growth import growth


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


def test_a_very_long_chain_of_classes_is_looked_up_in_linear_time() -> None:
    """Each class kept all that the one before it had: 45,000 classes needed 8 GB."""

    def look_up(count: int) -> LookupOrder[int]:
        order = LookupOrder[int](lambda one: [one - 1] if one else [], lambda one: one)
        for one in range(count):
            order.of(one)
        return order

    assert max(len(chain) for chain in look_up(2 * LONGEST).known.values()) == LONGEST
    assert growth(look_up, 2_000, 16_000, allowed=16) < 16


def test_thousands_of_classes_of_one_name_are_not_compared_with_each_other() -> None:
    inherited = {"Test": [f"A{number}" for number in range(10 * LONGEST)]}
    asked: list[str] = []

    def bases(one: str) -> list[str]:
        asked.append(one)
        return inherited[one]

    chain = ancestry("Test", bases, 40)
    assert (len(chain), len(set(chain)), asked) == (LONGEST, LONGEST, ["Test"])
