"""What a run holds in memory: the facts of one language at a time, each text once."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from testlist import Facts, FactsKey, Source, fetched, inventory
from testlist.loader import Words
from testlist_harness.repositories import MakeRepository, git


class Watching:
    """A FactsCache that notes the languages it is asked for at once."""

    def __init__(self) -> None:
        self.asked: list[set[str]] = []

    def load(self, keys: Sequence[FactsKey]) -> dict[FactsKey, Facts]:
        self.asked.append({key.language for key in keys})
        return {}

    def store(self, facts: Mapping[FactsKey, Facts]) -> None:
        pass


def test_languages_are_read_one_after_the_other(make_repository: MakeRepository, tmp_path: Path) -> None:
    repository = make_repository(
        {
            "test_a.py": "def test_one(): pass\n",
            "a.test.js": "it('works', () => {})\n",
            "a_test.go": 'package a\nimport "testing"\nfunc TestA(t *testing.T) {}\n',
        }
    )
    cache = Watching()
    with fetched(Source.local(repository), git(repository, "rev-parse", "HEAD"), workdir=tmp_path) as repo:
        found = inventory(repo, cache=cache)
    assert [file.path for file in found.files] == ["a.test.js", "a_test.go", "test_a.py"]
    assert cache.asked == [{"python"}, {"javascript"}, {"go"}]


def test_equal_texts_are_one() -> None:
    words = Words()
    one, other = (
        words.share({"na" + "me": ["test" + str(1), {"na" + "me": "test" + str(1)}, 3, True, None]}) for _ in "ab"
    )
    assert one == other == {"name": ["test1", {"name": "test1"}, 3, True, None]}
    assert one["name"][0] is other["name"][1]["name"]
    assert one["name"][2:] == [3, True, None]


def test_equal_numbers_are_one_and_true_is_none_of_them() -> None:
    words = Words()
    one, other = (words.share({"lines": [int("70" + "001"), {"line": int("70001")}], "is": True, "n": 1}) for _ in "ab")
    assert one == other
    assert one["lines"][0] is other["lines"][1]["line"]
    assert (one["is"], type(one["n"])) == (True, int)


def test_equal_lists_of_texts_are_one_and_no_others() -> None:
    words = Words()
    one, other = (words.share({"marks": [["ma" + "rk", "a"], [1, "a"]]})["marks"] for _ in "ab")
    assert one == other == [["mark", "a"], [1, "a"]]
    assert one[0] is other[0]
    assert one[1] is not other[1]
