"""Patterns of macro_rules that the compiler refuses bind nothing, and break nothing."""

import pytest
from testlist.languages.rust import facts_tokens
from testlist.languages.rust.collect_patterns import Budget, match


@pytest.mark.parametrize("pattern", ["$x:(expr)", "$[x]:expr", "$[x]:[expr]"])
def test_a_group_is_no_name_and_no_kind(pattern: str) -> None:
    given = facts_tokens.read("a", 1, places=True)
    assert match(facts_tokens.read(pattern, 0, places=False), given, Budget(1_000)) is None


def test_a_repetition_of_groups_binds_no_names() -> None:
    pattern = facts_tokens.read("$($[x])*", 0, places=False)
    assert match(pattern, [], Budget(1_000)) == {}
