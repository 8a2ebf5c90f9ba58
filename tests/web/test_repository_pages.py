"""The page of a repository, the pages to look around, and bookmarks, without JavaScript."""

from __future__ import annotations

import re

from service_harness.application import Web, commit_of
from service_harness.inventories import a_test, file
from sqlalchemy import text

PAGE = "/repositories/github.com/acme/shop"


def analysed(web: Web, ref: str, tests: int, name: str = "shop") -> str:
    job_id: str = web.submit(name, ref=ref).json["id"]
    web.completed(job_id, [file("tests/test_a.py", *(a_test(f"test_{n}", line=n + 1) for n in range(tests)))])
    return job_id


def private(web: Web, name: str) -> None:
    with web.uow.begin() as tx:
        tx.write(text("UPDATE codebases SET is_private = true WHERE name = :name"), name=name)


def test_commits_are_listed_with_what_changed(web: Web) -> None:
    first, second = analysed(web, "one", 3), analysed(web, "two", 5)
    page = web.client.get(PAGE).text
    assert page.index(commit_of("shop", "two")[:10]) < page.index(commit_of("shop", "one")[:10])
    assert re.search(rf'href="/analyses/{first}/compare/{second}" aria-label="\+2 since \w+">\+2<', page)
    assert "<strong>5</strong> tests" in page
    assert len(re.findall(r'<rect class="bar" x="[\d.]+%" y=', page)) == 2
    assert "/repositories/github.com/acme/shop/badge.svg" in page


def test_any_two_commits_are_compared(web: Web) -> None:
    first, second = analysed(web, "one", 3), analysed(web, "two", 5)
    sent = web.client.get(f"{PAGE}/compare?before={second}&after={first}")
    assert (sent.status_code, sent.headers["Location"]) == (303, f"/analyses/{second}/compare/{first}")
    assert web.client.get(f"{PAGE}/compare?before=x").status_code == 422


def test_the_result_leads_to_its_repository_and_back(web: Web) -> None:
    job_id = analysed(web, "one", 1)
    assert f'href="{PAGE}"' in web.client.get(f"/analyses/{job_id}").text
    assert f'href="/analyses/{job_id}"' in web.client.get(PAGE).text


def test_nobody_sees_the_page_of_a_private_or_unknown_repository(web: Web) -> None:
    job_id = analysed(web, "one", 1, "secret")
    private(web, "secret")
    assert web.client.get("/repositories/github.com/acme/secret").status_code == 404
    assert web.client.get("/repositories/github.com/acme/unknown").status_code == 404
    assert "acme/secret" not in web.client.get("/explore").text
    assert "acme/secret" not in web.client.get("/explore?q=secret").text.replace('value="secret"', "")
    assert "/repositories/github.com/acme/secret" not in web.client.get(f"/analyses/{job_id}").text


def test_explore_lists_each_repository_once_and_finds_by_a_part_of_the_address(web: Web) -> None:
    analysed(web, "one", 3)
    analysed(web, "two", 5)
    analysed(web, "one", 2, "Till")
    page = web.client.get("/explore").text
    assert "called cells" not in page
    assert page.count(f'href="{PAGE}"') == 1
    assert page.index("acme/Till") < page.index("acme/shop")
    found = web.client.get("/explore?q=CME/TI").text
    assert "acme/Till" in found
    assert "acme/shop" not in found
    assert "No public repository" in web.client.get("/explore?q=%25").text, "a wildcard is a character"


def test_names_of_this_machine_are_shown_to_people_with_an_account(web: Web) -> None:
    analysed(web, "one", 3, "till")
    with web.uow.begin() as tx:
        tx.write(text("UPDATE codebases SET host = 'local', owner = '-' WHERE name = 'till'"))
    assert "till" not in web.client.get("/explore").text
    assert "No public repository" in web.client.get("/explore?q=till").text
    web.sign_in(web.user())
    assert "/repositories/local/-/till" in web.client.get("/explore").text


def test_a_repository_is_bookmarked_and_unmarked(web: Web) -> None:
    analysed(web, "one", 3)
    assert "Bookmark</button>" not in web.client.get(PAGE).text, "a visitor has no bookmarks"
    web.sign_in(web.user())
    assert "Bookmark</button>" in web.client.get(PAGE).text
    assert web.post(f"{PAGE}/bookmark").status_code == 303
    assert "Remove the bookmark" in web.client.get(PAGE).text
    assert f'href="{PAGE}"' in web.client.get("/bookmarks").text
    web.post(f"{PAGE}/bookmark", remove="yes")
    assert "No bookmarks yet" in web.client.get("/bookmarks").text
    assert web.post("/repositories/github.com/acme/unknown/bookmark").status_code == 404
