"""Where functions of other files stand: without files, and of commits that are made to be slow."""

import time
from typing import Any

import pytest
from testlist.homes import LARGEST_AREA, MOST_CANDIDATES, Homes
from testlist.languages import LANGUAGES
from testlist.paths import NAMESAKES, Paths
from testlist_harness.growth import growth


def homes(files: dict[str, dict[str, Any]]) -> Homes:
    """What is known of these files.  files: path -> facts."""
    found = Homes(Paths(dict.fromkeys(files, "0" * 40)))
    for path, facts in files.items():
        found.learn(path, facts)
    return found


def body(name: str, *calls: str) -> dict[str, Any]:
    return {"name": name, "line": 1, "end": 1, "checks": [], "calls": list(calls)}


def file_of(found: Homes, path: str, called: str, around: str = "A.test", *, is_own: bool = True) -> str:
    one = body(around, called)
    found.learn(path, {**found.facts[path], "functions": [*found.facts[path]["functions"], one]})
    found.leads(path, calls=True)
    return found.find(path, one, called, is_own=is_own).file  # type: ignore[arg-type]


@pytest.mark.parametrize("language", [one for one in LANGUAGES if one.calls is not None], ids=lambda one: one.name)
@pytest.mark.parametrize(
    "called", ["", ".", "a", "A", "A.b", "\\", "\\A\\B", "a!", "self.a", "\0", "a" * 5_000, "../a"]
)
def test_a_language_finds_nothing_in_a_commit_without_files(language: Any, called: str) -> None:
    [suffix, *_] = sorted(language.suffixes)
    path = f"test/a.{suffix}"
    found = list(language.follow().home(path, called, {"a": "", "*1": "super", "": ""}, Paths({path: ""})))
    assert all(one.place != path for one in found)


def test_the_only_of_the_nearest_files_is_meant() -> None:
    paths = Paths(dict.fromkeys(["a/x/B.cs", "a/y/B.cs", "c/b.cs"]))
    assert paths.nearest("B.cs", "a/x/T.cs") == "a/x/B.cs"
    assert paths.nearest("B.cs", "a/z/T.cs") == ""
    assert paths.nearest("C.cs", "a/z/T.cs") == ""
    assert Paths(dict.fromkeys(f"{one}/B.cs" for one in range(NAMESAKES + 1))).ending("B.cs", "0/T.cs") == []


def test_bases_in_a_circle_and_chains_longer_than_is_read_end() -> None:
    circle = {
        f"test/{one}.rb": {"functions": [], "bases": {one.upper(): [other.upper()]}} for one, other in ("ab", "ba")
    }
    assert file_of(homes(circle), "test/a.rb", "self.verify") == ""
    names = [f"C{number}" for number in range(9)]
    chain: dict[str, dict[str, Any]] = {
        f"test/c{number}.rb": {"functions": [], "bases": {name: [f"C{number + 1}"]}}
        for number, name in enumerate(names)
    }
    for depth, expected in ((3, "test/c3.rb"), (4, "")):
        chain[f"test/c{depth}.rb"]["functions"] = [body(f"C{depth}.verify{depth}")]
        assert file_of(homes(chain), "test/c0.rb", f"self.verify{depth}", "C0.test") == expected


def test_a_class_that_has_all_bases_that_count_asks_for_no_more() -> None:
    helpers = [f"test/h{number}" for number in range(MOST_CANDIDATES)]
    files: dict[str, dict[str, Any]] = {
        f"{one}.rb": {"functions": [], "bases": {"": ["X"]}, "imports": {"other": ""}} for one in helpers
    }
    files[f"{helpers[-2]}.rb"]["functions"] = [body("verify")]
    files["test/a.rb"] = {"functions": [], "bases": {"A": [""]}, "imports": dict.fromkeys(helpers, "")}
    found = homes(files)
    assert file_of(found, "test/a.rb", "self.verify") == f"{helpers[-2]}.rb"
    assert {path for path, _ in found.candidates} == {"test/a.rb"}


def test_what_stands_in_a_third_file_is_not_followed() -> None:
    files: dict[str, dict[str, Any]] = {
        "test/a.rb": {"functions": [], "bases": {"A": ["B"]}},
        "test/b.rb": {"functions": [body("B.verify")], "bases": {"B": []}},
    }
    assert file_of(homes(files), "test/a.rb", "self.verify") == "test/b.rb"
    assert file_of(homes(files), "test/a.rb", "self.verify", is_own=False) == ""


def test_an_area_of_too_many_files_says_nothing() -> None:
    files: dict[str, dict[str, Any]] = {f"a/b{number}_test.go": {"functions": []} for number in range(LARGEST_AREA - 1)}
    files["a/a_test.go"] = {"functions": [body("same")]}
    assert file_of(homes(files), "a/b0_test.go", "same") == "a/a_test.go"
    files["a/c_test.go"] = {"functions": []}
    assert file_of(homes(files), "a/b0_test.go", "same") == ""


@pytest.mark.parametrize("suffix", ["_test.go", "Tests.cs", "_test.rb", ".rs", "Tests.swift", "Test.php", "_test.cc"])
def test_a_large_commit_takes_linear_time(suffix: str) -> None:
    """5,000 paths, half of one name; 400 files of tests, each with 50 calls, 11 bases and 20 imports."""

    def prepare(count: int) -> tuple[list[str], Homes]:
        paths = dict.fromkeys((f"tests/d{one % 997}/{one}{suffix}" for one in range(2_500)), "")
        paths |= dict.fromkeys((f"tests/e{one}/Common{suffix}" for one in range(2_500)), "")
        return [*paths][:count], Homes(Paths(paths))

    def work(prepared: tuple[list[str], Homes]) -> None:
        paths, found = prepared
        for path in paths:
            calls = [f"{prefix}{path[-14:-8]}{number}" for number in range(25) for prefix in ("self.", "Common.")]
            bases = {"A": [f"B{number}" for number in range(9)] + ["A", ""]}
            imports = {f"Common{suffix}": "", **{f"i{number}": "crate.Common" for number in range(20)}}
            found.learn(path, {"functions": [body("A.test", *calls)], "bases": bases, "imports": imports})
        for path in paths:
            found.leads(path, calls=True)
        for path in paths:
            for one in found.facts[path]["functions"][0]["calls"]:
                found.find(path, found.facts[path]["functions"][0], one, is_own=True)
                found.subject(path, one)

    prepared = prepare(400)
    begun = time.process_time()
    work(prepared)
    assert time.process_time() - begun < 20
    assert growth(work, 100, 400, allowed=12, prepare=prepare) < 12
