"""What people come for, from the first page to the last, in a real browser with real workers behind it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from app.domain.plans import Tier
from tests.e2e.conftest import System
from tests.e2e.visitors import JOB_PAGE, Site, new_operator
from tests.web.browser import chromium, layout

pytestmark = pytest.mark.proof

SHOP = {
    "tests/test_cart.py": "def test_adds(): pass\n\n\ndef test_removes(): pass\n",
    "tests/test_order.py": "import pytest\n\n\n@pytest.mark.skip\ndef test_ships(): pass\n",
}
PHONE = {"viewport": {"width": 375, "height": 740}, "is_mobile": True, "has_touch": True}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def site(system: System, browser: Browser) -> Site:
    return Site.serve(system, browser)


def test_a_first_visit_ends_at_a_result_that_can_be_narrowed_and_taken_along(site: Site) -> None:
    site.system.make_repository("shop", SHOP)
    site.system.nodes.worker()
    with site.visitor() as visitor:
        page = visitor.go("/")
        page.get_by_role("link", name="local:shop").click()
        page.get_by_role("button", name="Analyse").click()
        expect(page).to_have_url(JOB_PAGE)
        expect(page.get_by_label("Totals")).to_contain_text("3 tests")
        page.get_by_label("Name has").fill("ship")
        page.get_by_role("button", name="Filter").click()
        expect(page.locator("table.tests tr:not(.file) th")).to_contain_text(["test_ships"])
        expect(page.locator("section#tests")).to_contain_text("1 test matches")
        address = page.get_by_role("link", name="CSV").get_attribute("href")
        taken = page.request.get(site.web.url + str(address)).text()
        assert "test_ships" in taken
        assert "test_adds" not in taken


def test_a_job_beyond_the_users_limit_waits_in_words_and_ends_by_itself(site: Site) -> None:
    site.system.make_repository("slow", SHOP)
    site.system.make_repository("shop", SHOP)
    site.system.stalling_worker(processes=2)
    user = site.system.user(Tier.FREE)  # one job at a time
    with site.visitor(user) as first, site.visitor(user) as second:
        first.submit("local:slow")
        expect(first.page.locator("[data-state]")).to_have_text("Reading test files")
        expect(first.page).to_have_title("Reading test files: slow")
        page = second.submit("local:shop")
        expect(page.locator("[data-state]")).to_have_text("Waiting")
        expect(page.locator("[data-wait]")).to_contain_text("1 of 1")
        expect(page.locator("section.live .note.danger")).to_have_count(0)  # to wait is no fault
        site.system.go_on()
        for visitor in (first, second):
            expect(visitor.page.get_by_label("Totals")).to_contain_text("3 tests")


def test_a_failure_says_whose_fault_it_is_and_can_be_tried_again(site: Site) -> None:
    folder = site.system.make_repository("shop", SHOP)
    user = site.system.user()
    with site.visitor(user) as visitor:
        page = visitor.submit("local:shop")
        job_id = visitor.job_id()
        away = folder.rename(folder.with_name("away"))
        site.system.nodes.worker()
        expect(page.locator("section.ended")).to_contain_text("not about Fairlane")
        expect(page.locator("section.ended")).to_contain_text("not billed")
        assert site.system.job(job_id)["billed"] is False
        shutil.move(away, folder)
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_label("Totals")).to_contain_text("3 tests")
        page.get_by_role("link", name="Usage").click()
        expect(page.get_by_role("img", name="1 used, 0 reserved of")).to_be_visible()


def test_a_running_job_is_cancelled_and_costs_nothing(site: Site) -> None:
    site.system.make_repository("slow", SHOP)
    site.system.stalling_worker()
    user = site.system.user()
    with site.visitor(user) as visitor:
        page = visitor.submit("local:slow")
        expect(page.locator("[data-state]")).to_have_text("Reading test files")
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator("section.ended")).to_contain_text("Cancelled")
        expect(page.locator("section.ended")).to_contain_text("Nobody is billed")
        visitor.go("/usage")
        expect(page.get_by_role("img", name="0 used, 0 reserved of")).to_have_count(2)
        expect(page.get_by_text("Nothing is reserved.")).to_be_visible()


def test_a_spent_quota_refuses_a_new_commit_and_not_an_old_result(site: Site) -> None:
    site.system.make_repository("shop", SHOP)
    site.system.make_repository("store")
    site.system.nodes.worker()
    user = site.system.world.user(analyses=1)
    with site.visitor(user) as visitor:
        page = visitor.submit("local:shop")
        expect(page.get_by_label("Totals")).to_contain_text("3 tests")
        visitor.submit("local:store")
        expect(page.get_by_role("alert")).to_contain_text("The quota of this period is used up")
        expect(page.get_by_label("Repository")).to_have_value("local:store")
        page.get_by_role("table").get_by_role("link", name="shop").click()
        expect(page).to_have_url(JOB_PAGE)
        expect(page.get_by_label("Totals")).to_contain_text("3 tests")
        visitor.go("/usage")
        expect(page.get_by_text("The quota of this period is used up.")).to_be_visible()


def test_an_operator_pauses_a_queue_and_the_waiting_know(site: Site) -> None:
    site.system.make_repository("shop", SHOP)
    site.system.nodes.worker()
    with site.visitor(new_operator(site.system)) as operator, site.visitor(site.system.user()) as visitor:
        console = operator.go("/operator/queues/analysis_default")
        console.get_by_label("Reason").fill("a new disk")
        console.get_by_role("button", name="Pause analysis_default").click()
        expect(console.locator(".verdict")).to_contain_text("analysis_default was paused")
        page = visitor.submit("local:shop")
        expect(page.locator("[data-wait]")).to_contain_text("paused")
        operator.go("/operator/queues/analysis_default")
        console.get_by_role("button", name="Resume analysis_default").click()
        expect(page.get_by_label("Totals")).to_contain_text("3 tests")
        operator.go("/operator/audit")
        expect(console.locator("table tbody")).to_contain_text("a new disk")


def test_the_keyboard_alone_is_enough(site: Site) -> None:
    site.system.make_repository("shop", SHOP)
    site.system.nodes.worker()
    with site.visitor() as visitor:
        page = visitor.go("/")
        expect(page.get_by_label("Repository")).to_be_focused()
        page.keyboard.type("local:shop")
        page.keyboard.press("Enter")
        expect(page.get_by_label("Totals")).to_contain_text("3 tests")
        page.keyboard.press("Tab")
        expect(page.locator(":focus")).to_have_text("Skip to the content")
        page.keyboard.press("Enter")
        for _ in range(60):
            page.keyboard.press("Tab")
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
            if page.evaluate("document.activeElement.name") == "q":
                break
        page.keyboard.type("ship")
        page.keyboard.press("Enter")
        expect(page.locator("section#tests")).to_contain_text("1 test matches")


def test_without_javascript_the_page_reads_itself_again(site: Site) -> None:
    site.system.make_repository("slow", SHOP)
    site.system.stalling_worker()
    with site.visitor(site.system.user(), java_script_enabled=False) as visitor:
        page = visitor.submit("local:slow")
        expect(page.locator("[data-state]")).to_have_text("Reading test files")
        site.system.go_on()
        expect(page.get_by_label("Totals")).to_contain_text("3 tests")
        page.locator("select[name=status]").select_option("skipped")
        page.get_by_role("button", name="Filter").click()
        expect(page.locator("section#tests")).to_contain_text("1 test matches")


def test_a_phone_shows_the_whole_way_without_sideways_scrolling(site: Site) -> None:
    site.system.make_repository("slow", SHOP)
    site.system.stalling_worker()
    with site.visitor(site.system.user(), **PHONE) as visitor:
        page = visitor.go("/")
        assert layout(page) == []
        page.get_by_label("Repository").fill("local:slow")
        page.get_by_role("button", name="Analyse").tap()
        expect(page.locator("[data-state]")).to_have_text("Reading test files")
        assert layout(page) == []
        site.system.go_on()
        expect(page.get_by_label("Totals")).to_contain_text("3 tests")
        assert layout(page) == []


def test_a_visit_in_korean_stays_korean_until_another_language_is_chosen(site: Site) -> None:
    site.system.make_repository("shop", SHOP)
    site.system.nodes.worker()
    with site.visitor(locale="ko-KR") as visitor:
        page = visitor.go("/")
        expect(page.locator("html")).to_have_attribute("lang", "ko")
        page.get_by_label("저장소").fill("local:nowhere")
        page.get_by_role("button", name="분석").click()
        expect(page.get_by_role("alert")).to_contain_text("저장소")  # the refusal too
        page.get_by_label("저장소").fill("local:shop")
        page.get_by_role("button", name="분석").click()
        expect(page).to_have_url(JOB_PAGE)
        expect(page.get_by_label("합계")).to_contain_text("테스트 3개")
        page.get_by_label("이름에 포함").fill("ship")
        page.get_by_role("button", name="필터").click()
        expect(page.locator("section#tests")).to_contain_text("조건에 맞는 테스트 1개")
        page.get_by_role("button", name="English").click()
        expect(page.locator("html")).to_have_attribute("lang", "en")
        expect(page.locator("section#tests")).to_contain_text("1 test matches")
