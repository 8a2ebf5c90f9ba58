"""Options of a project that keep tests out of its runs."""

import pytest
from testlist.languages.python.config_selection import evaluated, selection

MARKS = frozenset({"slow", "a.b"})


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("slow", True),
        ("not slow", False),
        ("fast or slow and not slow", False),
        ("(fast or slow) and a.b", True),
        ("not(fast)", True),
        ("", None),
        ("slow and", None),
        ("slow)", None),
        ("(slow", None),
        ("slow fast", None),
        ("slow(level=1)", None),
        ("not " * 200 + "slow", None),
        ("(" * 200 + "slow" + ")" * 200, None),
        ("slow or " * 200 + "slow", None),
    ],
)
def test_an_expression_has_its_value_or_none(expression: str, value: bool | None) -> None:
    assert evaluated(expression, lambda name: name in MARKS) is value


def test_what_may_be_given_counts_neither_way() -> None:
    assert evaluated("unit or slow", lambda name: True if name in MARKS else None) is True
    assert evaluated("unit and slow", lambda name: True if name in MARKS else None) is None
    assert evaluated("not slow and unit", lambda name: True if name in MARKS else None) is False


def test_hooks_and_plugins_leave_a_missing_mark_open() -> None:
    none: frozenset[str] = frozenset()
    assert selection(["-m", "unit"], given=False).drops("test_a.py::test_a", none, sure=True)
    assert not selection(["-m", "unit"], given=True).drops("test_a.py::test_a", none, sure=True)
    assert not selection(["-m", "unit", "-p", "own"], given=False).drops("test_a.py::test_a", none, sure=True)
    assert selection(["-m", "unit", "-p", "no:x"], given=False).drops("test_a.py::test_a", none, sure=True)
