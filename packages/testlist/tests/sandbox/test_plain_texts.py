"""A title that no database takes is replaced in part, and its file is read."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from testlist.sandbox.answers import facts_in
from testlist.sandbox.plain_texts import plain_json
from testlist_harness.repositories import MakeRepository, TakeInventory

SOURCE = r"""
import { test } from "vitest";
test("plain", () => {});
test("a\u0000b", () => {});
test("half \ud800 of one", () => {});
test("two halves \uD83D\uDE00", () => {});
test("last \u{1F600}", () => {});
"""
TEXTS = st.text(st.characters(codec=None) | st.sampled_from("\0\ud800\udc00x\\u"), max_size=6)
FACTS = st.dictionaries(TEXTS, st.recursive(TEXTS | st.integers(0, 9), st.lists, max_leaves=6), max_size=4)


@given(FACTS)
def test_what_is_answered_is_always_a_text(facts: dict[str, Any]) -> None:
    facts = {f"x{name}": value for name, value in facts.items()}  # no name that the guard knows
    found = facts_in(plain_json(facts))
    assert len(found) <= len(facts)
    if not any("\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text) for text in _texts(facts)):
        assert found == facts


def test_the_siblings_of_a_title_that_is_no_text_are_listed(
    make_repository: MakeRepository, take: TakeInventory
) -> None:
    found = take(make_repository({"a.test.js": SOURCE}))
    [file] = found.files
    assert [test.name for test in file.tests] == [
        "plain",
        "a\ufffdb",
        "half \ufffd of one",
        "two halves \U0001f600",
        "last \U0001f600",
    ]


def _texts(part: Any) -> list[str]:
    if isinstance(part, str):
        return [part]
    if isinstance(part, dict):
        return [*part, *(text for value in part.values() for text in _texts(value))]
    return [text for one in part for text in _texts(one)] if isinstance(part, list) else []
