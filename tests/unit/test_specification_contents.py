from hypothesis import given
from hypothesis import strategies as st

from app.domain.contents import Counts, contents, domain_anchor, feature_anchor
from app.domain.specification import UNGROUPED, Domain, Feature
from tests.web.made_up import behaviour, large, shop, specification


def test_contents_count_by_feature_domain_and_status() -> None:
    found = contents(shop())
    orders, rest = found.domains
    assert [(feature.name, feature.counts.behaviours) for feature in orders.features] == [("Cart", 6), ("Prices", 1)]
    assert orders.counts == Counts(7, {"active": 3, "focused": 1, "skipped": 1, "todo": 1, "xfail": 1}, 1)
    assert (rest.name, rest.counts.behaviours, rest.counts.fell_back) == (UNGROUPED, 1, 0)
    assert found.counts.behaviours == 8


def test_contents_of_nothing_are_empty() -> None:
    assert contents(specification()).counts == Counts(0, {}, 0)
    assert contents(specification(Domain("Orders", [Feature("Cart", [])]))).domains[0].counts == Counts(0, {}, 0)


def test_an_anchor_depends_on_the_names_only() -> None:
    alone = specification(Domain("Orders", [Feature("Cart", [behaviour()])]))
    among = specification(Domain("Prices", []), Domain("Orders", [Feature("Totals", []), Feature("Cart", [])]))
    assert contents(alone).domains[0].anchor == contents(among).domains[1].anchor == domain_anchor("Orders")
    assert contents(alone).domains[0].features[0].anchor == contents(among).domains[1].features[1].anchor


def test_an_anchor_is_alike_for_names_that_look_alike() -> None:
    assert domain_anchor("\u00dcber  orders") == domain_anchor("U\u0308ber orders")


def test_anchors_differ_where_the_words_do_not() -> None:
    names = ["Cart", "cart", "cart!", "Cart ", "장바구니", "결제", UNGROUPED]
    assert len({domain_anchor(name) for name in names}) == len(names) - 1  # a space at the end is not seen
    assert feature_anchor("Orders", "Cart") != feature_anchor("Prices", "Cart")
    assert domain_anchor("Cart")[2:] != feature_anchor("", "Cart")[2:]


@given(st.text(), st.text())
def test_an_anchor_needs_no_escaping_anywhere(domain: str, feature: str) -> None:
    for anchor in (domain_anchor(domain), feature_anchor(domain, feature)):
        assert anchor[0].isalpha()
        assert all(c.isascii() and (c.isalnum() or c == "-") for c in anchor)
        assert len(anchor) <= 60


def test_anchors_of_a_large_document_are_unique() -> None:
    found = contents(large())
    anchors = [entry.anchor for domain in found.domains for entry in (domain, *domain.features)]
    assert found.counts.behaviours == 28_000
    assert len(set(anchors)) == len(anchors) == 50 + 50 * 28
