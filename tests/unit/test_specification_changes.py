import pytest

from app.domain.specification import Behaviour, Domain, Feature, Place, Specification
from app.domain.specification_changes import GROUPS, Change, SpecificationChanges, compare
from tests.web.made_up import behaviour, large, shop, specification


def cart(*behaviours: Behaviour, domain: str = "Orders", feature: str = "Cart") -> Specification:
    return specification(Domain(domain, [Feature(feature, behaviours)]))


def names(found: SpecificationChanges) -> dict[str, list[str]]:
    """What is in each group that is not empty, by the name of its test."""
    return {
        group: [change.newest.behaviour.subject.name for change in changes]
        for group, changes in found.groups.items()
        if changes
    }


def test_a_document_does_not_differ_from_itself() -> None:
    found = compare(shop(), shop())
    assert found.totals == dict.fromkeys(GROUPS, 0)
    assert found.unchanged == 8


def test_each_change_is_in_its_group() -> None:
    before = cart(behaviour("Adds", "a"), behaviour("Removes", "b"), behaviour("Counts", "c"), behaviour("Stays", "d"))
    after = cart(
        behaviour("Adds an item", "a"), behaviour("Counts", "c", status="skipped"), behaviour("Stays", "d"), behaviour("New", "e")
    )  # fmt: skip
    found = compare(before, after)
    assert names(found) == {"added": ["e"], "removed": ["b"], "reworded": ["a"], "status_changed": ["c"]}
    assert found.unchanged == 1


def test_another_feature_or_domain_is_a_move() -> None:
    before = cart(behaviour())
    for after in (cart(behaviour(), domain="Prices"), cart(behaviour(), feature="Totals")):
        assert names(compare(before, after)) == {"moved": ["test_adds"]}
    (change,) = compare(before, after).groups["moved"]
    assert change.before is not None
    assert change.before.place == Place("Orders", "Cart")
    assert change.newest.place == Place("Orders", "Totals")


def test_one_behaviour_may_be_in_several_groups() -> None:
    before, after = cart(behaviour("Adds")), cart(behaviour("Adds two", status="todo"), domain="Prices")
    found = compare(before, after)
    assert found.totals == {"added": 0, "removed": 0, "reworded": 1, "moved": 1, "status_changed": 1}
    assert found.unchanged == 0


def test_another_line_is_no_change_and_another_file_is_another_test() -> None:
    assert compare(cart(behaviour(line=1)), cart(behaviour(line=99))).unchanged == 1
    found = compare(cart(behaviour(file="a.py")), cart(behaviour(file="b.py")))
    assert names(found) == {"added": ["test_adds"], "removed": ["test_adds"]}


def test_who_wrote_a_sentence_is_no_change() -> None:
    assert compare(cart(behaviour(fell_back=True)), cart(behaviour())).unchanged == 1


def test_tests_of_one_name_are_paired_with_their_like_before_their_lines() -> None:
    before = cart(behaviour("One", line=1), behaviour("Two", line=2), behaviour("Three", line=3))
    after = cart(behaviour("Two", line=1), behaviour("Three", line=2))
    found = compare(before, after)
    assert found.unchanged == 2
    assert [change.newest.behaviour.sentence for change in found.groups["removed"]] == ["One"]
    assert found.totals["reworded"] == 0


def test_tests_of_one_name_without_a_like_are_paired_by_line() -> None:
    before = cart(behaviour("B", line=20), behaviour("A", line=10))
    after = cart(behaviour("A2", line=11), behaviour("B2", line=21), behaviour("C", line=31))
    found = compare(before, after)
    pairs = [(c.before.behaviour.sentence, c.newest.behaviour.sentence) for c in found.groups["reworded"] if c.before]
    assert pairs == [("A", "A2"), ("B", "B2")]
    assert [change.newest.behaviour.sentence for change in found.groups["added"]] == ["C"]


def test_changes_are_in_the_order_of_the_document_that_has_them() -> None:
    before = cart(*(behaviour(f"Old {n}", f"old_{n}") for n in range(9)), behaviour("z", "z"), behaviour("y", "y"))
    after = cart(behaviour("y2", "y"), *(behaviour(f"New {n}", f"new_{n}") for n in range(9)), behaviour("z2", "z"))
    found = names(compare(before, after))
    assert found["removed"] == [f"old_{n}" for n in range(9)]
    assert found["added"] == [f"new_{n}" for n in range(9)]
    assert found["reworded"] == ["y", "z"]


def test_turned_round_what_was_added_is_removed() -> None:
    there, back = compare(shop(), large(2, 2, 2)), compare(large(2, 2, 2), shop())
    assert there.totals["added"] == back.totals["removed"] == 8
    assert there.totals["removed"] == back.totals["added"] == 8


def test_documents_of_two_languages_are_refused() -> None:
    with pytest.raises(ValueError, match="en and ko cannot be compared"):
        compare(shop(), shop("ko"))


def test_a_change_without_a_side_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one side"):
        _ = Change(None, None).newest
