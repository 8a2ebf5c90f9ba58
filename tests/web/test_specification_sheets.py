from collections.abc import Callable
from functools import partial

import pytest

from app.domain.contents import contents
from app.domain.specification import Domain, Feature, Specification
from app.domain.specification_changes import compare
from app.services.specifications.documents import HeadingLine
from app.web.core.schemas import SpecificationChangesQuery, SpecificationQuery
from app.web.specifications import changes, sheets
from app.web.specifications.sheets import DocumentSheet
from tests.web.made_up import behaviour, large, shop, specification


def sheet(of: Specification, **asked: object) -> DocumentSheet:
    return sheets.sheet(of, SpecificationQuery(**asked))


def sentences(found: DocumentSheet) -> list[str]:
    return [one.sentence for domain in found.domains for feature in domain.features for one in feature.behaviours]


def whole(of: Specification) -> list[str]:
    return [one.sentence for domain in of.domains for feature in domain.features for one in feature.behaviours]


def test_a_small_document_is_one_open_sheet() -> None:
    found = sheet(shop())
    assert sentences(found) == whole(shop())
    assert (found.number, found.of, found.total, found.shown, found.is_open) == (1, 1, 8, 8, True)
    assert found.statuses == {"active": 4, "skipped": 1, "todo": 1, "focused": 1, "xfail": 1}


@pytest.mark.parametrize(
    "size", [(), (1, 1, 28_000), pytest.param((28_000 // 700, 700, 1), marks=pytest.mark.proof), (3, 3, 777)]
)
def test_the_sheets_together_are_the_document_and_none_is_too_large(size: tuple[int, ...]) -> None:
    of = large(*size)
    first = sheet(of)
    every = [first, *(sheet(of, page=number) for number in range(2, first.of + 1))]
    assert max(one.shown for one in every) <= sheets.SIZE
    assert min(one.shown for one in every) > 0
    assert [sentence for one in every for sentence in sentences(one)] == whole(of)


@pytest.mark.proof
@pytest.mark.parametrize("made", [shop, specification, large, partial(large, 1, 1, 28_000), partial(large, 3, 3, 777)])
def test_a_leaf_is_the_sheet_and_reads_no_feature_of_another(made: Callable[[], Specification]) -> None:
    of = made()
    features = [feature for domain in of.domains for feature in domain.features]
    names = [domain.name for domain in of.domains for _ in domain.features]
    outline = [
        HeadingLine(position, domain, feature.name, len(feature.behaviours))
        for position, (domain, feature) in enumerate(zip(names, features, strict=True))
    ]
    statuses = contents(of).counts.statuses
    read: list[tuple[int, int]] = []

    def between(first: int, last: int) -> list[Feature]:
        read.append((first, last))
        return features[first : last + 1]

    for number in range(1, sheet(of).of + 2):  # one beyond the last
        read.clear()
        found = sheets.leaf(outline, number, statuses, between)
        assert found == sheet(of, page=number)
        shown = sum(len(domain.features) for domain in found.domains)
        assert sum(1 + last - first for first, last in read) == shown


def test_a_domain_that_fits_on_a_sheet_is_not_torn() -> None:
    of = large(5, 6, 100)  # two domains are 1,200
    assert [len(sheet(of, page=number).domains) for number in range(1, 6)] == [1] * 5
    assert sheet(of).of == 5
    small = large(10, 2, 100)
    assert [domain.name for domain in sheet(small, page=2).domains] == [f"Domain {n}" for n in range(5, 10)]


def test_a_feature_longer_than_a_sheet_goes_on_where_it_stopped() -> None:
    of = large(1, 1, 2_500)
    parts = [sheet(of, page=number).domains[0].features[0] for number in (1, 2, 3)]
    assert [(part.before, len(part.behaviours), part.total) for part in parts] == [
        (0, 1_000, 2_500), (1_000, 1_000, 2_500), (2_000, 500, 2_500)
    ]  # fmt: skip


def test_a_page_beyond_the_last_is_the_last() -> None:
    assert sheet(large(), page=1_000_000).number == sheet(large()).of == 50


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("ROUNDS", ["Rounds prices to cents"]),
        ("test_misc", ["Works"]),
        ("test_rounds", ["Rounds prices to cents"]),
        ("testcart", whole(shop())),
        ("Prices", ["Rounds prices to cents"]),
        ("not assigned", ["Works"]),
        ("orders", whole(shop())[:-1]),
        ("no such thing", []),
    ],
)
def test_a_search_finds_headings_sentences_files_suites_and_tests(asked: str, expected: list[str]) -> None:
    assert sentences(sheet(shop(), q=asked)) == expected


def test_a_search_finds_headings_in_the_language_of_the_document() -> None:
    assert sentences(sheet(shop("ko"), q="미분류")) == ["Works"]
    assert len(sentences(sheet(shop("ko"), q="장바구니"))) == 6


def test_statuses_are_counted_under_the_search_but_not_under_the_status() -> None:
    found = sheet(shop(), q="Cart", status="todo")
    assert sentences(found) == ["Has a test that is todo"]
    assert found.total == 1
    assert found.statuses["active"] == 4
    assert sheet(shop(), status="nothing").of == 1


def test_the_contents_lead_to_the_sheet_that_shows_an_entry() -> None:
    of = large()
    found = sheet(of, page=7)
    assert [entry.page for entry in found.contents] == list(range(1, 51))
    assert [len(entry.entries) for entry in found.contents] == [28 if number == 6 else 0 for number in range(50)]
    assert found.contents[6].anchor == contents(of).domains[6].anchor == found.domains[0].anchor
    for entry in found.contents[6].entries:
        assert entry.anchor in [feature.anchor for feature in found.domains[0].features]


def test_short_contents_list_every_feature_and_only_what_matches() -> None:
    assert [len(entry.entries) for entry in sheet(large(9, 9, 300)).contents] == [9] * 9
    (entry,) = sheet(shop(), q="rounds").contents
    assert [(one.name, one.behaviours) for one in entry.entries] == [("Prices", 1)]


def test_nothing_is_shown_of_what_is_empty() -> None:
    found = sheet(specification(Domain("Orders", [Feature("Cart", [])]), Domain("Prices", [])))
    assert (found.domains, found.contents, found.of, found.total) == ([], [], 1, 0)


def test_sheets_of_changes_together_are_all_changes() -> None:
    found = compare(large(3, 3, 50), shop())
    first = changes.changes_sheet(found, SpecificationChangesQuery())
    assert (first.total, first.of, first.matching["removed"]) == (458, 3, 450)
    shown = [changes.changes_sheet(found, SpecificationChangesQuery(page=page)).groups for page in (1, 2, 3)]
    assert [one for groups in shown for one in groups.get("removed", ())] == list(found.groups["removed"])
    assert list(shown[0]) == ["added", "removed"]
    assert sum(len(part) for groups in shown for part in groups.values()) == 458


def test_changes_are_narrowed_by_group_and_words_of_both_sides() -> None:
    before = specification(Domain("Orders", [Feature("Cart", [behaviour("Adds one")])]))
    after = specification(Domain("Prices", [Feature("Cart", [behaviour("Adds two")])]))
    found = compare(before, after)
    for words in ("adds ONE", "adds two", "orders", "prices", "test_cart.py", "testcart", "test_adds"):
        narrowed = changes.changes_sheet(found, SpecificationChangesQuery(q=words))
        assert {group: len(some) for group, some in narrowed.groups.items()} == {"reworded": 1, "moved": 1}
    assert changes.changes_sheet(found, SpecificationChangesQuery(q="three")).total == 0
    moved = changes.changes_sheet(found, SpecificationChangesQuery(group="moved"))
    assert (list(moved.groups), moved.total, moved.matching["reworded"]) == (["moved"], 1, 1)
