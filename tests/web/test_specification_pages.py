import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page
from service_harness.application import Web

from tests.tiers import few
from tests.web.browser import chromium
from tests.web.made_up import AT, COMMIT, HOSTILE, hostile, large, shop, specification
from tests.web.specification_scenes import (
    FAILED,
    PATH,
    SHARED,
    SHOWN_ONCE,
    SPECIFICATION_SCENES,
    changed,
    comparison_page,
    document_page,
    history,
    history_page,
    job_page,
    make_web_of_scenes,  # noqa: F401  a fixture
    owners,
    shown,
)
from tests.web.test_browser import opened
from tests.web.test_specification_exports import Shown


def page(web: Web, template: str, make: Callable[[], Any]) -> str:
    """The text of a page, its blanks folded."""
    answer = web.client.get(shown(template, make)(web))
    assert answer.status_code == 200
    return " ".join(answer.text.split())


def document(web: Web, *args: Any, **asked: Any) -> str:
    return page(web, "specifications/specification.html", lambda: document_page(*args, **asked))


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    with chromium() as browser:
        yield browser.new_page()


@pytest.mark.parametrize("name", few(4, SPECIFICATION_SCENES))
def test_no_page_has_what_the_policy_forbids(name: str, web: Web) -> None:
    text = web.client.get(SPECIFICATION_SCENES[name].build(web)).text
    elements = Shown(text).elements
    assert {name for _, attributes in elements for name in attributes if name.startswith(("on", "style"))} == set()
    assert all(str(attributes.get("src", "")).startswith("/static/") for tag, attributes in elements if tag == "script")
    assert {"style", "img", "iframe"} & {tag for tag, _ in elements} == set()


def test_a_document_says_where_it_comes_from_and_what_it_cost(web: Web) -> None:
    text = document(web, shop(), owners())
    assert (
        '<a href="https://github.com/acme/shop" rel="noreferrer" translate="no">acme/shop</a> <small>specification</small>'
        in text
    )
    assert f'<code title="{COMMIT}">0123456789</code>' in text
    assert f'<time datetime="{AT.isoformat()}">2026-11-20 09:30 UTC</time> by built-in 1' in text
    assert "<strong>8</strong> behaviours" in text
    assert "<strong>7</strong> billed" in text
    assert "<strong>1</strong> from earlier versions, free" in text
    assert "The model failed on 1 of 8 behaviours, so the built-in generator wrote them." in text
    assert '<bdi translate="no" lang="en">Adds an item to the cart</bdi> <small class="kind">built-in</small>' in text
    assert text.count('<small class="kind">built-in</small>') == 2  # and in the words about it


def test_a_behaviour_has_its_test_line_and_mark(web: Web) -> None:
    text = document(web, shop())
    link = f'href="https://github.com/acme/shop/blob/{COMMIT}/tests/test_cart.py#L21" rel="noreferrer"'
    assert f'<a class="at" translate="no" {link}>tests/test_cart.py:21</a>' in text
    assert "<bdi>TestCart</bdi> \u203a <bdi>test_skipped</bdi>" in text
    assert '<span class="tag skipped" translate="no" lang="en">skipped</span>' in text
    assert '<span class="tag active"' not in text


def test_readers_by_a_link_see_no_cost_and_no_form(web: Web) -> None:
    text = document(web, shop())
    assert "Adds an item to the cart" in text
    assert "The model failed on 1 of 8" in text
    for told in (
        "billed",
        "from earlier versions",
        "cost nothing",
        "Withdraw",
        "Create a link",
        "new version",
    ):
        assert told not in text.partition("<main")[2]
    assert (
        "csrf_token" not in text.partition("<main")[2].partition("</main>")[0]
    )  # the footer's form chooses the language


def test_fixed_words_of_a_korean_document_are_korean(web: Web) -> None:
    text = document(web, shop("ko"))
    assert '<h2 id="contents" translate="no" lang="ko">목차</h2>' in text
    assert '<span class="tag skipped" translate="no" lang="ko">건너뜀</span>' in text
    assert '<bdi translate="no" lang="ko">도메인 미분류</bdi>' in text


def test_what_narrows_stays_in_every_address(web: Web) -> None:
    text = document(web, large(), q="rule 9", status="skipped", page=2)
    assert 'value="rule 9"' in text
    assert '<input type="hidden" name="status" value="skipped">' in text
    assert f'href="{PATH}?q=rule+9&amp;status=skipped&amp;page=1#text"' in text
    assert re.search(rf'href="{PATH}\?q=rule\+9&amp;status=skipped&amp;page=1#d-domain-0-', text)
    assert f'href="{PATH}?q=rule+9#text">All 1,400' in text
    assert "1,400 behaviours match" in text


def test_a_large_document_is_sent_a_sheet_at_a_time(web: Web) -> None:
    text = document(web, large(), owners())
    assert "28,000 behaviours, 560 of them on this page." in text
    assert text.count('<li data-status="') == 560
    assert '<details class="feature" id="f-feature-0-' in text
    assert " open>" not in text  # so many are closed
    assert len(text) < 700_000


def test_a_document_without_tests_is_an_answer(web: Web) -> None:
    text = document(web, specification(), owners())
    assert "This commit has no tests, so there is nothing to specify." in text
    assert "Nothing was billed for it." in text
    assert 'role="search"' not in text


def test_a_search_without_a_match_leads_back(web: Web) -> None:
    text = document(web, shop(), q="nothing")
    assert f'No behaviour matches. <a href="{PATH}#text">Show all</a>' in text
    assert "0 behaviours match." in text


def test_hostile_names_are_text(web: Web) -> None:
    text = document(web, hostile())
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "[U+202E]gnp.exe and [U+2066]isolated" in text
    assert "{{ 7 * 7 }}" in text
    assert text.count('<li data-status="') == 2 * len(HOSTILE)


def test_a_link_is_made_shown_and_withdrawn(make_web: Callable[..., Web]) -> None:
    text = document(make_web(), shop(), owners())
    assert 'method="post" action="/share"' in text
    assert "/withdraw" not in text
    text = document(make_web(), shop(), owners(SHARED))
    assert f'value="{SHARED.url}" readonly' in text
    assert 'method="post" action="/withdraw"' in text
    text = document(make_web(), shop(), owners(SHOWN_ONCE))
    assert "The link was shown only once, when it was created." in text
    assert "Withdraw the link" in text


def test_a_comparison_lists_each_change(web: Web) -> None:
    text = page(web, "specifications/comparison.html", lambda: comparison_page(*changed()))
    assert (
        '<del><bdi translate="no" lang="en">Adds an item</bdi></del> <ins><bdi translate="no" lang="en">Adds an item to the cart</bdi></ins>'
        in text
    )
    assert (
        '<ins><bdi translate="no" lang="en">Prices</bdi> \u203a <bdi translate="no" lang="en">Totals</bdi></ins>'
        in text
    )
    assert '<span class="tag active">active</span> → <span class="tag skipped">skipped</span>' in text
    assert '<del><bdi translate="no" lang="en">Empties the cart</bdi></del>' in text
    assert "Written by different generators (built-in 1, built-in 2)" in text
    assert f'href="{PATH}?group=moved"' in text


def test_a_comparison_without_a_change_says_so(make_web: Callable[..., Web]) -> None:
    same = page(make_web(), "specifications/comparison.html", lambda: comparison_page(shop(), shop()))
    assert "Nothing changed: 8 behaviours on both sides" in same
    none = page(
        make_web(),
        "specifications/comparison.html",
        lambda: comparison_page(*changed(), q="nowhere", group="moved"),
    )
    assert f'No change matches. <a href="{PATH}">Show all</a>' in none
    assert '<input type="hidden" name="group" value="moved">' in none


def test_the_history_has_a_line_for_each_commit(make_web: Callable[..., Web]) -> None:
    text = page(make_web(), "specifications/history.html", history)
    assert text.count("<tr>") == 1 + 3
    assert "1,234 reworded" in text
    assert 'nothing <a href="/compare" aria-label="Compare ' in text
    empty = page(make_web(), "specifications/history.html", history_page)
    assert "You have no specification of this repository yet." in empty


def test_a_job_under_way_shows_its_phase_and_its_end_what_is_kept(make_web: Callable[..., Web]) -> None:
    text = page(make_web(), "specifications/job.html", job_page)
    assert "Writing sentences" in text
    assert "12,345 of 28,000 behaviours" in text
    assert 'action="/cancel"' in text
    text = page(make_web(), "specifications/job.html", lambda: job_page(FAILED))
    assert "The model did not answer within 30 s, 5 times." in text
    assert "You are not billed for it. The sentences written so far are stored" in text
    assert 'action="/retry"' in text


def visible_lines(seen: Page) -> int:
    return seen.locator(".behaviours li:visible").count()


@pytest.mark.proof
def test_typing_filters_what_is_on_the_page(tab: Page, web: Web) -> None:
    with opened(tab, web, shown("specifications/specification.html", lambda: document_page(large()))(web)) as seen:
        assert visible_lines(seen) == 0  # all are closed
        seen.fill("[data-filter]", "RULE 3 of feature 7")
        assert visible_lines(seen) == 1
        assert seen.inner_text("[data-told]") == "1 on this page. Search to look through the whole document."
        seen.fill("[data-filter]", "feature 27")
        assert visible_lines(seen) == 20
        seen.fill("[data-filter]", "")
        assert visible_lines(seen) == 0
        assert seen.locator("details.feature:visible").count() == 28
        assert seen.inner_text("[data-told]") == "28,000 behaviours, 560 of them on this page."


@pytest.mark.proof
def test_what_the_server_found_stays_until_somebody_types(tab: Page, web: Web) -> None:
    with opened(
        tab, web, shown("specifications/specification.html", lambda: document_page(shop(), q="orders"))(web)
    ) as seen:
        assert visible_lines(seen) == 7
        seen.fill("[data-filter]", "rounds")
        assert visible_lines(seen) == 1
        seen.fill("[data-filter]", "Orders ")
        assert visible_lines(seen) == 7


@pytest.mark.proof
def test_a_link_of_the_contents_opens_its_feature(tab: Page, web: Web) -> None:
    with opened(tab, web, shown("specifications/specification.html", lambda: document_page(large()))(web)) as seen:
        seen.click("nav.contents a >> text=Feature 13")
        assert seen.locator("details.feature[open] h3").all_inner_texts() == ["Feature 13"]
        seen.reload()
        assert seen.locator("details.feature[open] h3").all_inner_texts() == ["Feature 13"]


@pytest.mark.proof
def test_print_has_everything_of_a_sheet_and_no_controls(tab: Page, web: Web) -> None:
    with opened(
        tab, web, shown("specifications/specification.html", lambda: document_page(large(2, 3, 100), owners()))(web)
    ) as seen:
        assert visible_lines(seen) == 0
        seen.emulate_media(media="print")
        try:
            assert visible_lines(seen) == 600
            for control in (".top", ".filters", ".groups", ".tools", ".share", ".again", ".exports"):
                assert seen.locator(control).first.is_hidden()
        finally:
            seen.emulate_media(media="screen")
