"""Hits by definition."""

from testlist.kit.fold import folded


def test_hits_of_one_definition_come_together_in_the_order_in_which_definitions_are_met() -> None:
    assert folded(["b1", "a1", "b2"], lambda hit: hit[0]) == [["b1", "b2"], ["a1"]]
