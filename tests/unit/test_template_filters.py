"""Numbers with their words, and labels, as the pages show them."""

import pytest

from app.web.site.template_filters import breakable, counted


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 suites"), (1, "1 suite"), (2, "2 suites"), (43_210, "43,210 suites")],
)
def test_a_number_has_its_word_in_the_right_plural(count: int, shown: str) -> None:
    assert counted(count, "suite") == shown


def test_a_word_may_have_a_plural_of_its_own() -> None:
    assert [counted(n, "analysis") for n in (1, 2)] == ["1 analysis", "2 analyses"]


@pytest.mark.parametrize(
    ("change", "shown"),
    [(0, "±0 tests"), (1, "+1 test"), (1_234, "+1,234 tests"), (-1, "\u22121 test"), (-2, "\u22122 tests")],
)
def test_a_change_has_its_sign(change: int, shown: str) -> None:
    assert counted(change, "test", signed=True) == shown


def test_the_number_of_a_total_stands_out() -> None:
    assert counted(1, "test", strong=True) == "<strong>1</strong> test"


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("packages/user_interface/tests", "packages/<wbr>user_<wbr>interface/<wbr>tests"),
        ("active", "active"),
        ("__init__/", "__<wbr>init__/"),
        ("<b>/\u202e", "&lt;b&gt;/<wbr>[U+202E]"),
    ],
)
def test_a_label_may_break_after_a_slash_and_an_underscore_only(label: str, shown: str) -> None:
    assert breakable(label) == shown
