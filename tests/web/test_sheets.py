"""The result page as a person reads a large or an odd result."""

from __future__ import annotations

import re

import pytest
from service_harness.application import Web, without_csrf
from service_harness.inventories import a_test, file

from app.store.analyses.inventories import FileRow


def done(web: Web, *files: FileRow, name: str = "shop") -> str:
    """The address of a completed job's page."""
    job_id: str = web.submit(name).json["id"]
    web.completed(job_id, list(files))
    return f"/analyses/{job_id}"


def mixed() -> list[FileRow]:
    """Tests of several kinds, some under a condition."""
    conditional = a_test("test_posix", line=3) | {"conditional": True}
    bench = a_test("BenchmarkSum", framework="go-testing") | {"kind": "benchmark"}
    part = a_test("TestSum/one", line=9, framework="go-testing") | {"kind": "subtest"}
    return [
        file("a_test.go", bench, a_test("TestSum", line=5, framework="go-testing"), part),
        file(
            "test_a.py", a_test("test_a"), conditional, hints=("stripe", "Cart.add", *(f"hint_{n}" for n in range(9)))
        ),
    ]


def shown(page: str) -> list[str]:
    return re.findall(r'<span class="test">([^<]+)<', page)


def many(count: int) -> FileRow:
    return file("tests/test_many.py", *(a_test(f"test_{n:04}", line=n) for n in range(1, count + 1)))


def test_filters_and_pages_live_in_the_address(web: Web) -> None:
    path = done(web, many(150))
    first = web.client.get(path).text
    assert shown(first) == [f"test_{n:04}" for n in range(1, 101)]
    assert "150 tests, 1 to 100 here" in first
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following
    second = web.client.get(following[1].replace("&amp;", "&")).text
    assert shown(second)[-1] == "test_0150"
    assert "101 to 150 here" in second
    assert 'rel="prev"' in second
    assert 'rel="next"' not in second
    narrowed = web.client.get(f"{path}?q=test_0149&status=&path=many&framework=pytest").text
    assert "1 test matches" in narrowed
    assert "format=csv" in narrowed
    assert web.client.get(f"{path}?page=0").status_code == 422


def test_any_page_of_a_long_result_is_one_step_away(web: Web) -> None:
    path = done(web, many(1050))
    page = web.client.get(f"{path}?page=5&q=test").text
    assert re.findall(r'aria-label="Page (\d+)"', page.partition('<table class="tests')[0]) == [
        "1",
        "3",
        "4",
        "6",
        "7",
        "11",
    ]
    assert '<input type="hidden" name="q" value="test">' in page
    assert shown(web.client.get(f"{path}?page=999").text)[-1] == "test_1050"


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("kind=benchmark", ["BenchmarkSum"]),
        ("kind=subtest", ["TestSum/one"]),
        ("conditional=true", ["test_posix"]),
        ("conditional=false&framework=pytest", ["test_a"]),
        ("about=STRIPE", ["test_a", "test_posix"]),
        ("about=Cart.add&q=posix", ["test_posix"]),
        ("about=none", []),
    ],
)
def test_a_result_is_narrowed_by_kind_condition_and_what_files_are_about(
    web: Web, query: str, names: list[str]
) -> None:
    path = done(web, *mixed())
    page = web.client.get(f"{path}?{query}").text
    assert shown(page) == names
    exported = web.client.get(f"/api/v1{path}/tests?{query}").json
    assert ([row["name"] for row in exported["items"]], exported["total"]) == (names, len(names))


@pytest.mark.proof
def test_kinds_and_conditions_are_offered_where_there_are_several(web: Web) -> None:
    page = web.client.get(done(web, *mixed())).text
    assert 'value="benchmark">benchmark (1)' in page
    assert "under a condition (1)" in page
    assert "go-testing: 2 active" in page
    assert "4 tests and 1 subtest" in page
    assert '<small class="kind">benchmark</small>' in page
    plain = web.client.get(done(web, many(3), name="plain")).text
    assert 'name="kind"' not in plain
    assert 'name="conditional"' not in plain


def test_filters_come_first_and_the_charts_follow_them(web: Web) -> None:
    files = [
        file("a/one.py", a_test("test_a"), a_test("test_b", status="skipped")),
        file("b/two.py", *(a_test(f"test_{n}") for n in range(3))),
        file("b/c/three.py", a_test("test_c", status="skipped"), a_test("test_d", framework="unittest")),
    ]
    path = done(web, *files)

    def charts(query: str) -> dict[str, str]:
        page = web.client.get(path + query).text
        assert page.index('class="filters"') < page.index('class="charts"') < page.index('class="tests lines"')
        return dict(re.findall(r"<title>([^<:]+): (\d[^<]+)</title>", page))

    assert charts("") == {
        "active": "5 tests, 71.43 %", "skipped": "2 tests, 28.57 %", "pytest": "4 active, 2 skipped",
        "unittest": "1 active", "a": "2 tests, 28.57 %", "b": "5 tests, 71.43 %",
    }  # fmt: skip
    assert charts("?status=skipped") == {
        "skipped": "2 tests, 100.0 %", "pytest": "2 skipped", "a": "1 test, 50.0 %", "b": "1 test, 50.0 %",
    }  # fmt: skip
    narrowed = web.client.get(f"{path}?status=active&path=b").text
    assert '<a href="?status=active&amp;path=b&amp;framework=unittest#tests">unittest</a>' in narrowed
    assert '<a href="?status=active&amp;path=b%2Fc%2F#tests">b/<wbr>c</a>' in narrowed
    assert '<option value="skipped">skipped (2)</option>' in narrowed  # the choices are those of the whole result
    assert 'class="charts"' not in web.client.get(f"{path}?q=nothing").text


def test_a_file_says_what_it_is_about(web: Web) -> None:
    page = web.client.get(done(web, *mixed())).text
    assert '<a translate="no" href="?about=Cart.add#tests">Cart.add</a>' in page
    assert "<summary>11 names imported or called</summary>" in page
    assert page.count("imported or called") == 1  # a_test.go has no hints
    assert page.count('<span class="path" translate="no">') == 2


def test_a_status_is_shown_only_where_it_is_not_active(web: Web) -> None:
    page = web.client.get(done(web, file("a.py", a_test("test_a"), a_test("test_b", status="skipped")))).text
    assert re.findall(r'<span class="(unseen|tag [a-z]+)">(active|skipped)</span>', page) == [
        ("unseen", "active"), ("tag skipped", "skipped"),
    ]  # fmt: skip


def test_where_nothing_was_found_the_page_says_what_may_be_the_reason(web: Web) -> None:
    page = web.client.get(done(web)).text
    assert "No tests were found in this commit" in page
    assert "node_modules" in page
    assert 'class="filters"' not in page
    unread = web.client.get(
        done(web, file("a.py", skipped="too_large"), file("b.py", skipped="binary"), name="unread")
    ).text
    assert "The files that could not be read may contain some" in unread
    assert "1 too large" in unread
    assert "1 not text" in unread


def test_a_filter_that_matches_nothing_leads_back(web: Web) -> None:
    path = done(web, *mixed())
    page = web.client.get(f"{path}?q=nothing").text
    assert "No test matches" in page
    assert f'href="{path}#tests">Show all' in page
    assert '<td class="count">' not in page  # the charts follow the filter


def test_the_list_can_be_sorted_and_keeps_its_filter(web: Web) -> None:
    path = done(
        web,
        file("a.py", a_test("mango", framework="go-testing"), a_test("berry", line=2, status="focused")),
        file("b.py", a_test("Zebra", framework="jest"), a_test("apple", line=2, status="skipped")),
    )
    assert shown(web.client.get(path).text) == ["mango", "berry", "Zebra", "apple"]
    assert shown(web.client.get(f"{path}?sort=name").text) == ["apple", "berry", "mango", "Zebra"]
    assert shown(web.client.get(f"{path}?sort=status").text) == ["berry", "apple", "mango", "Zebra"]
    by_framework = web.client.get(f"{path}?sort=framework&status=active").text
    assert shown(by_framework) == ["mango", "Zebra"]
    assert "a.py:1</a>" in by_framework
    assert '<option value="framework" selected>' in by_framework
    assert web.client.get(f"{path}?sort=line").status_code == 422


def test_a_sorted_list_has_every_test_once_on_its_pages(web: Web) -> None:
    same = [a_test("same", line=n) for n in range(1, 251)]
    path = done(web, file("a.py", *same[:120]), file("b.py", *same[120:]), file("c.py", a_test("first")))
    names, places = [], []
    for number in (1, 2, 3):
        page = web.client.get(f"{path}?sort=name&page={number}").text
        names += shown(page)
        places += re.findall(r">([abc]\.py:\d+)</a>", page)
    assert names == ["first", *["same"] * 250]
    assert len(set(places)) == 251
    assert 'href="' + path + '?sort=name&amp;page=2#tests"' in web.client.get(f"{path}?sort=name").text


def entries(page: str) -> list[tuple[str, str]]:
    """Names and numbers of the tree."""
    table = page.partition('<table class="bars tree">')[2].partition("</table>")[0]
    names = re.findall(r'<th scope="row"[^>]*><a [^>]*>(.*?)</a></th>', table)
    return list(
        zip([re.sub(r"<[^>]+>", "", name) for name in names], re.findall(r'count">([\d,]+)<', table), strict=True)
    )


def test_the_tree_shows_one_directory_with_its_numbers(web: Web) -> None:
    path = done(
        web,
        file("src/main/java/a/A.java", a_test("a"), a_test("b", status="skipped")),
        file("src/main/java/b/B.java", a_test("c")),
        file("src/main/java/Top.java", a_test("d")),
        file("web/one.test.js", a_test("e")),
        file("root.py", a_test("f")),
    )
    root = web.client.get(f"{path}?view=tree").text
    assert entries(root) == [("src/main/java/", "4"), ("web/", "1"), ("root.py", "1")]
    assert "under=src%2Fmain%2Fjava%2F" in root
    inside = web.client.get(f"{path}?view=tree&under=src/main/java").text  # a slash more or less
    assert entries(inside) == [("a/", "2"), ("b/", "1"), ("Top.java", "1")]
    assert "?file=src%2Fmain%2Fjava%2FTop.java#tests" in inside
    assert 'href="?view=tree&amp;under=src%2F#tests"' in inside
    assert entries(web.client.get(f"{path}?view=tree&status=skipped").text) == [("src/main/java/a/", "1")]
    assert "contains no test" in web.client.get(f"{path}?view=tree&under=nowhere").text
    assert "No test matches" in web.client.get(f"{path}?view=tree&q=nothing").text


def test_a_large_directory_has_pages(web: Web) -> None:
    path = done(web, *(file(f"t/test_{n:03}.py", a_test("a")) for n in range(201)))
    first = web.client.get(f"{path}?view=tree&under=t/").text
    assert len(entries(first)) == 200
    assert "view=tree&amp;under=t%2F&amp;page=2#tests" in first
    assert entries(web.client.get(f"{path}?view=tree&under=t/&page=2").text) == [("test_200.py", "1")]


def test_each_view_and_order_is_kept_apart(web: Web) -> None:
    path = done(web, file("a.py", a_test("b")), file("b.py", a_test("a")))
    first, again = (
        [without_csrf(web.client.get(f"{path}{query}").text) for query in ("", "?sort=name", "?view=tree")]
        for _ in range(2)
    )
    assert len({tuple(shown(page)) for page in first}) == 3
    assert again == first


def test_a_file_is_found_by_its_whole_path_alone(web: Web) -> None:
    path = done(web, file("a.py", a_test("one"), a_test("two", line=2)), file("data.py", a_test("three")))
    assert shown(web.client.get(f"{path}?path=a.py").text) == ["one", "two", "three"]
    page = web.client.get(f"{path}?file=a.py").text
    assert shown(page) == ["one", "two"]
    assert "Only of <code>a.py</code>." in page
    assert '<input type="hidden" name="file" value="a.py">' in page
    assert "?file=a.py&amp;format=csv" in page
    assert shown(web.client.get(f"{path}?file=a.py&q=two").text) == ["two"]
    assert 'href="?file=a.py#tests"' in web.client.get(f"{path}?view=tree").text
    listed = web.client.get(f"/api/v1{path}/tests?file=data.py").json["items"]
    assert [row["name"] for row in listed] == ["three"]
