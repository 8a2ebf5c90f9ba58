"""Comparing two results in a browser."""

from __future__ import annotations

import re
from uuid import uuid4

from service_harness.application import Web, commit_of
from service_harness.inventories import a_test, file
from sqlalchemy import text

from app.store.analyses.inventories import FileRow
from tests.web.test_read import HOSTILE_NAMES


def done(web: Web, ref: str, *files: FileRow, name: str = "shop", headers: dict[str, str] | None = None) -> str:
    job_id: str = web.submit(name, headers, ref=ref).json["id"]
    web.completed(job_id, list(files))
    return job_id


def body(name: str, line: int, status: str = "active") -> dict[str, object]:
    """A test of five lines."""
    return a_test(name, line=line, status=status) | {"end_line": line + 4}


def changed(web: Web) -> str:
    """The page of a comparison with one change of each group."""
    before = done(
        web, "one",
        file("a.py", a_test("test_stays"), a_test("test_goes", line=2), a_test("test_rests", line=3)),
        file("moved.py", a_test("test_moves"), a_test("test_goes_along", line=2)),
        file("b/old.py", body("test_first_name", 1)),
    )  # fmt: skip
    after = done(
        web, "two",
        file("a.py", a_test("test_stays"), a_test("test_rests", line=3, status="skipped")),
        file("there/moved.py", a_test("test_moves"), a_test("test_goes_along", line=2)),
        file("b/old.py", body("test_second_name", 1)),
        file("c.py", a_test("test_comes")),
    )  # fmt: skip
    return f"/analyses/{before}/compare/{after}"


def shown(page: str) -> list[str]:
    return re.findall(r'<span class="test">([^<]+)<', page)


def test_a_comparison_shows_every_change_with_both_sides(web: Web) -> None:
    page = web.client.get(changed(web)).text
    assert shown(page) == [
        "test_comes", "test_goes", "test_moves", "test_goes_along", "test_first_name", "test_second_name", "test_rests",
    ]  # fmt: skip
    assert "added 1, removed 1, moved 2, renamed 1, other status 1" in page
    assert "<strong>1</strong> unchanged" in page
    assert re.search(r"<del>.*moved.py:1</a>.*</del> <ins>.*there/moved.py:1</a>.*</ins>", page, re.DOTALL)
    assert '<span class="tag active">active</span> → <span class="tag skipped">skipped</span>' in page
    assert "http-equiv" not in page


def test_changes_are_narrowed_by_what_they_are_and_by_words(web: Web) -> None:
    path = changed(web)
    assert shown(web.client.get(f"{path}?group=moved").text) == ["test_moves", "test_goes_along"]
    assert shown(web.client.get(f"{path}?q=GOES").text) == ["test_goes", "test_goes_along"]
    assert shown(web.client.get(f"{path}?q=there&group=moved").text) == ["test_moves", "test_goes_along"]
    assert "No change matches" in web.client.get(f"{path}?q=nothing").text
    assert web.client.get(f"{path}?group=lost").status_code == 422


def test_many_changes_come_in_pages(web: Web) -> None:
    before = done(web, "one")
    after = done(web, "two", file("a.py", *(a_test(f"test_{n:03}", line=n) for n in range(1, 251))))
    path = f"/analyses/{before}/compare/{after}"
    first = web.client.get(f"{path}?group=added").text
    assert "250 changes, page 1 of 3" in first
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following
    assert shown(web.client.get(following[1].replace("&amp;", "&")).text)[0] == "test_101"
    assert shown(web.client.get(f"{path}?page=9").text)[-1] == "test_250"


def test_where_nothing_changed_the_page_says_so(web: Web) -> None:
    before, after = (done(web, ref, file("a.py", a_test("test_a"))) for ref in ("one", "two"))
    page = web.client.get(f"/analyses/{before}/compare/{after}").text
    assert "Nothing changed: 1 test on both sides" in page
    assert "<strong>±0</strong> tests" in page
    assert "same commit" not in page
    assert "same commit" in web.client.get(f"/analyses/{before}/compare/{before}").text


def test_what_may_mislead_is_told(web: Web) -> None:
    before = done(web, "one", file("a.py", a_test("test_a")))
    after = done(web, "two", file("a.py", skipped="too_large"), name="fork")
    with web.uow.begin() as tx:
        tx.run(text("UPDATE analyses SET parser_version = '0.9' WHERE id = :id"), id=before)
    page = web.client.get(f"/analyses/{before}/compare/{after}").text
    assert "1 file left out" in page
    assert "different parsers (0.9, " in page
    assert "from acme/shop" in page
    assert "to acme/fork" in page


def test_hostile_names_are_shown_not_run(web: Web) -> None:
    rows = [a_test(name, line=n, suites=(name,)) for n, name in enumerate(HOSTILE_NAMES, 1)]
    before, after = done(web, "one"), done(web, "two", file("<i>/\u202etest_x.py", *rows))
    page = web.client.get(f"/analyses/{before}/compare/{after}?q=%3Cscript").text
    assert "<script>alert" not in page
    assert "<i>/" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_a_result_leads_to_the_inventory_before_it(web: Web) -> None:
    first, second = (done(web, ref, file("a.py", a_test("test_a"))) for ref in ("one", "two"))
    other = done(web, "one", name="fork")
    assert f'href="/analyses/{first}/compare/{second}"' in web.client.get(f"/analyses/{second}").text
    for job_id in (first, other):
        page = web.client.get(f"/analyses/{job_id}").text
        assert "previous inventory" not in page
        assert f'href="/analyses/{job_id}/compare"' in page


def test_another_commit_is_chosen_from_a_list_or_by_its_id(web: Web) -> None:
    first, second, third = (done(web, ref, file("a.py", a_test("test_a"))) for ref in ("one", "two", "three"))
    path = f"/analyses/{second}/compare"
    page = web.client.get(path).text
    assert [
        name in page for name in (f"/analyses/{first}/compare/{second}", f"/analyses/{second}/compare/{third}")
    ] == [
        True,
        True,
    ]
    commit = commit_of("shop", "one")
    chosen = web.client.get(f"{path}?commit={commit[:7].upper()}")
    assert (chosen.status_code, chosen.headers["Location"]) == (303, f"/analyses/{first}/compare/{second}")
    missing = web.client.get(f"{path}?commit={'0' * 40}").text
    assert "Analyse this commit" in missing
    assert f'name="commit" value="{"0" * 40}"' in missing


def test_a_lonely_inventory_has_nothing_to_be_compared_with(web: Web) -> None:
    page = web.client.get(f"/analyses/{done(web, 'one')}/compare").text
    assert "no inventory of another commit" in page
    assert "Analyse its newest commit" in page


def test_both_must_be_there_and_completed(web: Web) -> None:
    completed, running = done(web, "one"), web.submit("shop", ref="two").json["id"]
    assert web.client.get(f"/analyses/{completed}/compare/{running}").status_code == 409
    assert web.client.get(f"/analyses/{running}/compare").status_code == 409
    assert web.client.get(f"/analyses/{completed}/compare/{uuid4()}").status_code == 404


def test_of_a_private_repository_only_ones_own_analyses_are_offered(web: Web) -> None:
    user = web.user()
    mine = done(web, "one", headers=web.token(user.user_id))
    theirs = done(web, "two", headers=web.token())
    with web.uow.begin() as tx:
        tx.run(text("UPDATE codebases SET is_private = true"))
    assert web.client.get(f"/analyses/{mine}/compare").status_code == 404
    web.sign_in(user)
    assert theirs not in web.client.get(f"/analyses/{mine}/compare").text
    web.sign_in(web.user(is_operator=True))
    assert theirs in web.client.get(f"/analyses/{mine}/compare").text
