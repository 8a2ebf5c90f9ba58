"""What tests check, on the pages and in the API."""

from __future__ import annotations

import html
import json
import re

import pytest
from service_harness.application import Web
from service_harness.inventories import a_test, checked, file
from testlist.kit.bodies import RELATIONS

from app.store.analyses.inventories import FileRow
from app.web.results.check_words import ALONE, EXPECTED, check_sentence

EQUAL = {"line": 4, "relation": "equal", "subject": "cart.total", "expected": "<3>", "value": "<3>"}
REACHED = {"line": 9, "relation": "raises", "expected": "ValueError", "by": "refuses", "file": "tests/shared.py"}


def some_files() -> list[FileRow]:
    """Tests with checks, one that checks nothing, and two of which that is not known."""
    adds = a_test("test_adds") | {"check_count": 3, "cases": 2}
    empty = a_test("test_empty", line=6) | {"check_count": 0, "cannot_fail": "empty"}
    doubt = a_test("test_doubt", line=8) | {"check_count": 0}
    found = (checked(EQUAL, REACHED, EQUAL | {"idle": "unreachable"}, subjects=("shop.py:Cart",)), checked(), checked())
    return [file("test_a.py", adds, empty, doubt, checks=found), file("test_b.py", a_test("test_old"))]


def done(web: Web, *files: FileRow, name: str = "shop", ref: str | None = None) -> str:
    job_id: str = web.submit(name, ref=ref).json["id"]
    web.completed(job_id, list(files))
    return f"/analyses/{job_id}"


def plain(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page)).split())


def test_each_row_of_a_result_says_what_its_test_checks_where_that_is_known(web: Web) -> None:
    page = web.client.get(done(web, *some_files())).text
    heads = re.findall(r'<th scope="row">(.*?)</th>', page.partition('class="tests lines"')[2], re.DOTALL)
    assert [plain(head) for head in heads] == [
        "test_adds 2 cases, 3 checks", "test_empty checks nothing: the body is empty", "test_doubt", "test_old",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "names"),
    [("some", ["test_adds"]), ("none", ["test_empty"]), ("unknown", ["test_doubt", "test_old"])],
)
def test_a_result_is_narrowed_by_whether_tests_check_something(web: Web, wanted: str, names: list[str]) -> None:
    path = done(web, *some_files())
    page = web.client.get(f"{path}?checks={wanted}").text
    assert re.findall(r'<span class="test">([^<]+)<', page) == names
    assert f'<option value="{wanted}" selected>' in page
    listed = web.client.get(f"/api/v1{path}/tests?checks={wanted}").json
    assert ([row["name"] for row in listed["items"]], listed["total"]) == (names, len(names))
    lines = web.client.get(f"/api/v1{path}/tests?checks={wanted}&format=ndjson").text.splitlines()
    assert [json.loads(line)["name"] for line in lines] == names


def test_the_filter_is_offered_where_something_is_known_and_says_what_it_allows(web: Web) -> None:
    assert 'name="checks"' in web.client.get(done(web, *some_files())).text
    path = done(web, file("a.py", a_test("test_old")), name="old")
    assert 'name="checks"' not in web.client.get(path).text
    answer = web.client.get(f"/api/v1{path}/tests?checks=all")
    assert answer.status_code == 422
    assert "'some', 'none' or 'unknown'" in answer.text
    assert web.client.get(f"{path}?checks=all").status_code == 422


def test_a_list_of_one_file_says_what_each_test_checks(web: Web) -> None:
    path = f"/api/v1{done(web, *some_files())}/tests"
    whole = {row["name"]: row for row in web.client.get(path).json["items"]}
    assert {name: (row["check_count"], row["cannot_fail"], row["checks"]) for name, row in whole.items()} == {
        "test_adds": (3, None, None), "test_empty": (0, "empty", None), "test_doubt": (0, None, None),
        "test_old": (None, None, None),
    }  # fmt: skip
    [adds, empty, doubt] = web.client.get(f"{path}?file=test_a.py").json["items"]
    assert adds["subjects"] == ["shop.py:Cart"]
    assert [(one["relation"], one["by"], one["idle"]) for one in adds["checks"]] == [
        ("equal", None, None), ("raises", "refuses", None), ("equal", None, "unreachable"),
    ]  # fmt: skip
    assert (empty["checks"], doubt["checks"]) == ([], [])
    [second] = web.client.get(f"{path}?file=test_a.py&q=empty").json["items"]
    assert (second["name"], second["checks"]) == ("test_empty", [])
    assert web.client.get(f"{path}?file=test_b.py").json["items"][0]["checks"] is None


def test_exports_have_the_new_members_last(web: Web) -> None:
    path = f"/api/v1{done(web, *some_files())}/tests"
    lines = web.client.get(f"{path}?format=csv").text.splitlines()
    assert lines[0].endswith(",conditional,check_count,cannot_fail")
    assert [line.split(",")[-2:] for line in lines[1:]] == [["3", ""], ["0", "empty"], ["0", ""], ["", ""]]


def test_the_page_of_a_test_lists_its_checks(web: Web) -> None:
    path = done(web, *some_files())
    page = web.client.get(f"{path}/test?file=test_a.py&name=test_adds").text
    listed = re.findall(r"<li>(.*?)</li>", page.partition('<ol class="checked"')[2], re.DOTALL)
    assert [plain(one) for one in listed] == [
        "cart.total equals <3> line 4",
        "the code raises ValueError line 9, in tests/shared.py, through refuses",
        "cart.total equals <3> line 4 \u2013 decides nothing: it is never reached",
    ]
    assert "tests/shared.py#L9" in page
    empty = web.client.get(f"{path}/test?file=test_a.py&name=test_empty").text
    assert "checks nothing: the body is empty" in empty
    for address in ("file=test_a.py&name=test_doubt", "file=test_b.py&name=test_old"):
        assert "Checks" not in web.client.get(f"{path}/test?{address}").text


def test_each_of_several_tests_of_one_name_has_its_own_checks(web: Web) -> None:
    twice = (a_test("test_a"), a_test("test_b", line=3), a_test("test_a", line=9) | {"check_count": 1})
    path = done(web, file("a.py", *twice, checks=(None, checked(REACHED), checked(EQUAL))))
    page = web.client.get(f"{path}/test?file=a.py&name=test_a").text
    assert page.count('<ol class="checked"') == 1
    assert page.index("a.py:9</a>") < page.index('<ol class="checked"')
    assert "raises" not in page


def test_a_test_with_more_checks_than_are_stored_says_so(web: Web) -> None:
    path = done(web, file("a.py", a_test("test_a") | {"check_count": 70}, checks=(checked(EQUAL, EQUAL),)))
    assert "Only the first 2 are stored." in web.client.get(f"{path}/test?file=a.py&name=test_a").text


def test_a_test_does_not_differ_from_an_older_result_by_what_is_known_of_its_checks(web: Web) -> None:
    tests = [a_test("test_adds"), a_test("test_empty", line=6), a_test("test_doubt", line=8)]
    before = done(web, file("test_a.py", *tests), ref="one").rpartition("/")[2]
    after = done(web, some_files()[0], ref="two").rpartition("/")[2]
    for pair in ((before, after), (after, before)):
        found = web.client.get("/api/v1/analyses/{}/compare/{}".format(*pair)).json
        assert found["totals"] == {
            "added": 0, "removed": 0, "moved": 0, "renamed": 0, "status_changed": 0, "unchanged": 3,
        }  # fmt: skip


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_relation_has_a_sentence_with_its_sides(web: Web, language: str) -> None:
    assert EXPECTED.keys() | ALONE.keys() == set(RELATIONS)
    with web.app.test_request_context(headers={"Accept-Language": language}):
        for words, sides in ((EXPECTED, {"subject": "S<", "expected": "X<"}), (ALONE, {"subject": "S<"})):
            for relation in words.keys() - {"fails"}:
                for negated in (True, False):
                    said = check_sentence({"relation": relation, "negated": negated, **sides})
                    assert all(f">{html.escape(side)}</code>" in said for side in sides.values()), said
                    assert "%(" not in said
    assert check_sentence({"relation": "new", "subject": "a"}).count("<code") == 2
