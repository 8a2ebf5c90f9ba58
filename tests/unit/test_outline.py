"""Which files hold a page of a result."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.services.results.outline import Outline

FILES = st.dictionaries(st.integers(1, 40), st.integers(1, 5))


def outline(files: dict[int, int]) -> Outline:
    ordinals = sorted(files)
    return Outline([], ordinals, list(accumulate(files[ordinal] for ordinal in ordinals)))


def rows(files: dict[int, int]) -> list[tuple[int, int]]:
    return [(ordinal, position) for ordinal in sorted(files) for position in range(1, files[ordinal] + 1)]


@given(FILES, st.integers(0, 60), st.integers(1, 20))
def test_a_part_holds_the_rows_of_its_page_and_no_file_more(files: dict[int, int], before: int, most: int) -> None:
    found = outline(files)
    part = found.part(min(before, found.total), most)
    page = rows(files)[min(before, found.total) :][:most]
    assert rows({ordinal: files[ordinal] for ordinal in part.files})[part.skip :][:most] == page
    assert set(part.files) == {ordinal for ordinal, _ in page}


@pytest.mark.proof
@given(FILES, st.tuples(st.integers(0, 41), st.integers(0, 6)), st.integers(1, 20))
def test_the_files_behind_a_row_hold_the_next_page(files: dict[int, int], after: tuple[int, int], most: int) -> None:
    behind = outline(files).behind(after[0], most)
    page = [row for row in rows(files) if row > after][:most]
    assert [row for row in rows({ordinal: files[ordinal] for ordinal in behind}) if row > after][:most] == page
    assert len(behind) <= most + 1
