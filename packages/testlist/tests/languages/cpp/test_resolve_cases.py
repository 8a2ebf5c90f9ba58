"""What classes of Objective-C inherit."""

from itertools import permutations

from testlist.languages.cpp.resolve_cases import Ends

BASES = {"A": "C", "B": "A", "C": "B", "D": "C", "E": "E", "F": "G"}


def test_the_end_of_a_circle_does_not_depend_on_who_is_asked_for_first() -> None:
    ends = []
    for names in permutations(BASES):
        asked = Ends(BASES)
        ends.append({name: asked.of(name) for name in names})
    assert ends == [{"A": "A", "B": "A", "C": "A", "D": "A", "E": "E", "F": "G"}] * len(ends)
