"""An inventory that takes over what it can of an earlier commit is the one that a whole run finds."""

import zlib
from collections.abc import Collection, Mapping
from functools import partialmethod

import pytest
from testlist import GitLimits, checks, packing
from testlist.packing import packed_inventory, unpacked_inventory
from testlist_harness.history import Files, History, Memory

PYTHON = {
    "pytest.ini": "[pytest]\n",
    "tests/base.py": "import unittest\nclass Base(unittest.TestCase):\n    def test_shared(self): pass\n",
    "tests/marks.py": "import pytest\nslow = pytest.mark.skip\n",
    "tests/test_a.py": "from tests.base import Base\nclass TestA(Base):\n    def test_a(self): pass\n",
    "tests/test_b.py": "from tests.base import Base\nclass TestB(Base):\n    def test_b(self): pass\n",
    "tests/test_c.py": "from tests.marks import slow\n@slow\ndef test_c(): pass\n",
    "tests/test_d.py": "def test_d(): pass\n",
    "web/a.test.js": "import {test} from 'vitest'\ntest('a', () => {})\n",
    "package.json": '{"devDependencies": {"vitest": "1"}}',
}
#: what changes -> what is resolved for it
PYTHON_CHANGES: Mapping[str, tuple[Files, Collection[str]]] = {
    "nothing that is read": ({"README": "more"}, ()),
    "a comment": ({"tests/test_d.py": "# d\n\ndef test_d(): pass\n"}, {"tests/test_d.py"}),
    "a test more": ({"tests/test_d.py": "def test_d(): pass\ndef test_e(): pass\n"}, {"tests/test_d.py"}),
    "the meaning of a mark": (
        {"tests/marks.py": "import pytest\nslow = pytest.mark.xfail\n"},
        {"tests/test_c.py"},
    ),
    "a test in a base class": (
        {"tests/base.py": PYTHON["tests/base.py"] + "    def test_more(self): pass\n"},
        {"tests/test_a.py", "tests/test_b.py"},
    ),
    "a class that has another base now": (
        {"tests/test_a.py": "import unittest\nclass TestA(unittest.TestCase):\n    def test_a(self): pass\n"},
        {"tests/test_a.py", "tests/test_b.py"},
    ),
    "a test of another language": (
        {"web/a.test.js": "import {test} from 'vitest'\ntest('b', () => {})\n"},
        {"web/a.test.js"},
    ),
}


@pytest.mark.parametrize("change", PYTHON_CHANGES)
def test_what_a_change_concerns_is_resolved_and_nothing_else(history: History, change: str) -> None:
    files, resolved = PYTHON_CHANGES[change]
    history.then(PYTHON)
    history.then(files)
    assert history.resolved == set(resolved)


def test_configuration_that_says_the_same_changes_nothing(history: History) -> None:
    history.then(PYTHON)
    history.then({"pytest.ini": "# as before\n[pytest]\n"})
    assert history.resolved == set()
    history.then({"pytest.ini": "[pytest]\npython_files = check_*.py\n"})
    assert history.last is not None and "pytest" not in {test.framework for test in history.last.tests}


CHANGES_OF_ALL: Mapping[str, Files] = {
    "a new file": {"tests/test_e.py": "def test_e(): pass\n"},
    "a removed file": {"tests/test_d.py": None},
    "a new file of no language": {"LICENSE": "free"},
    "a changed configuration": {"pytest.ini": "[pytest]\npython_files = check_*.py\n"},
}


@pytest.mark.parametrize("change", CHANGES_OF_ALL)
def test_where_candidates_may_be_others_everything_is_resolved(history: History, change: str) -> None:
    history.then(PYTHON)
    before = set(history.resolved)
    history.then(CHANGES_OF_ALL[change])
    assert history.resolved >= before - {"tests/test_d.py"} - {"tests/test_a.py", "tests/test_b.py", "tests/test_c.py"}


def test_a_base_class_that_nobody_is_built_on_any_more_loses_its_tests(history: History) -> None:
    history.then(PYTHON)
    alone = "import unittest\nclass Test{0}(unittest.TestCase):\n    def test_{1}(self): pass\n"
    history.then({"tests/test_a.py": alone.format("A", "a")})
    found = history.then({"tests/test_b.py": alone.format("B", "b")})
    assert "test_shared" not in {test.name for test in found.tests}


def test_a_file_that_gets_its_first_test_from_another_has_it(history: History) -> None:
    history.then({**PYTHON, "tests/test_a.py": "def test_a(): pass\n", "tests/test_b.py": "def test_b(): pass\n"})
    found = history.then({"tests/test_a.py": PYTHON["tests/test_a.py"]})
    assert "test_shared" in {test.name for test in found.tests}


def test_links_that_were_worked_out_are_kept_for_the_next_commit(history: History) -> None:
    history.then(PYTHON)
    history.then({"tests/test_d.py": "def test_d(): pass\ndef test_e(): pass\n"})
    assert history.last is not None and history.last.basis is not None
    assert history.last.basis.read["python"].links == {
        "tests/test_a.py": ["tests/base.py"],
        "tests/test_b.py": ["tests/base.py"],
        "tests/test_c.py": ["tests/marks.py"],
    }
    history.then({"tests/marks.py": "import pytest\nslow = pytest.mark.xfail\n"})
    assert history.resolved == {"tests/test_c.py"}


RUBY = {
    "test/test_helper.rb": 'require "minitest/autorun"\n',
    "test/shared.rb": "module Shared\n  def test_shared; end\nend\n",
    "test/a_test.rb": 'require "test_helper"\nclass A < Minitest::Test\n  include Shared\n  def test_a; end\nend\n',
    "test/b_test.rb": 'require "test_helper"\nclass B < A\n  def test_b; end\nend\n',
}
RUBY_CHANGES: Mapping[str, tuple[Files, Collection[str] | None]] = {
    "a test more": ({"test/b_test.rb": RUBY["test/b_test.rb"] + "# end\nclass B < A\n  def test_c; end\nend\n"}, None),
    "a method more": (
        {"test/b_test.rb": RUBY["test/b_test.rb"].replace("end\nend", "end\n  def test_c; end\nend")},
        {"test/b_test.rb"},
    ),
    "a module that is mixed in no more": ({"test/a_test.rb": RUBY["test/a_test.rb"].replace("include", "# ")}, None),
    "a test in a module": ({"test/shared.rb": "module Shared\n  def test_other; end\nend\n"}, {"test/shared.rb"}),
    "a helper that loads another runner": ({"test/test_helper.rb": 'require "rspec"\n'}, None),
}


@pytest.mark.parametrize("change", RUBY_CHANGES)
def test_classes_of_ruby_concern_all_files_and_methods_their_own(history: History, change: str) -> None:
    files, resolved = RUBY_CHANGES[change]
    history.then(RUBY)
    history.then(files)
    assert history.resolved == (set(RUBY) if resolved is None else set(resolved))


JAVASCRIPT = {
    "package.json": '{"devDependencies": {"vitest": "1"}}',
    "test/utils.js": "import {test} from 'vitest'\nexport const slow = test.skip\nexport const plain = test\n",
    "test/shared-tests.js": "import {it} from 'vitest'\nexport function shared() { it('shared', () => {}) }\n",
    "test/a.test.js": "import {slow} from './utils'\nslow('a', () => {})\n",
    "test/b.test.js": "import {shared} from './shared-tests'\nshared()\n",
    "test/c.test.js": "import {test} from 'vitest'\ntest('c', () => {})\n",
}
JAVASCRIPT_CHANGES: Mapping[str, tuple[Files, Collection[str]]] = {
    "a test more": ({"test/c.test.js": JAVASCRIPT["test/c.test.js"] + "test('d', () => {})\n"}, {"test/c.test.js"}),
    "a name that is handed on": (
        {"test/utils.js": JAVASCRIPT["test/utils.js"].replace("test.skip", "test.only")},
        {"test/a.test.js"},
    ),
    "a test that is shared": (
        {"test/shared-tests.js": JAVASCRIPT["test/shared-tests.js"].replace("'shared'", "'both'")},
        {"test/b.test.js"},
    ),
    "nobody shares it any more": ({"test/b.test.js": JAVASCRIPT["test/c.test.js"]}, {"test/b.test.js"}),
}


@pytest.mark.parametrize("change", JAVASCRIPT_CHANGES)
def test_imports_of_javascript_say_whom_a_change_concerns(history: History, change: str) -> None:
    files, resolved = JAVASCRIPT_CHANGES[change]
    history.then(JAVASCRIPT)
    history.then(files)
    assert history.resolved == set(resolved)


def test_facts_that_are_not_known_any_more_cost_nothing_but_time(history: History) -> None:
    history.then(PYTHON)
    history.cache = Memory()
    history.then({"tests/test_d.py": "def test_d(): pass\ndef test_e(): pass\n"})


def test_a_broken_configuration_is_as_final_as_another(history: History) -> None:
    history.then({**PYTHON, "setup.cfg": "no section\n", "package.json": "{"})
    assert history.last is not None and history.last.is_final
    history.then({"README": "more"})
    assert history.resolved == set()


def test_nothing_is_taken_over_of_other_rules(history: History) -> None:
    history.then(PYTHON)
    assert history.last is not None
    history.last = history.last._replace(parser_version="1.0.0-older")
    history.then({"README": "more"})
    assert history.resolved


CHECKED = {
    "pytest.ini": "[pytest]\n",
    "shop.py": "def check_total(x):\n    assert x == 1\n",
    "deep.py": "from shop import check_total\ndef check_all(x):\n    check_total(x)\n    assert x\n",
    "test_a.py": "from shop import check_total\ndef test_a():\n    check_total(1)\n",
    "test_b.py": "from deep import check_all\ndef test_b():\n    check_all(1)\n",
    "test_c.py": "def test_c():\n    assert 1\n",
    "conftest.py": "",
}
#: what changes -> files whose checks are read again
CHECKED_CHANGES: Mapping[str, tuple[Files, Collection[str]]] = {
    "nothing that is read": ({"README": "more"}, ()),
    "a test": ({"test_c.py": "def test_c():\n    assert 2\n"}, {"test_c.py"}),
    "a function that a test calls": ({"shop.py": "def check_total(x):\n    assert x == 2\n"}, {"test_a.py"}),
    "a function that the file of another uses": (
        {"deep.py": CHECKED["deep.py"].replace("assert x", "assert x > 0")},
        {"test_b.py"},
    ),
    "a new file": (
        {"deep/__init__.py": "def check_all(x):\n    assert x is None\n"},
        {"test_a.py", "test_b.py", "test_c.py"},
    ),
}


@pytest.mark.parametrize("change", CHECKED_CHANGES)
def test_checks_are_read_again_where_a_change_concerns_them(history: History, change: str) -> None:
    files, again = CHECKED_CHANGES[change]
    history.checks = True
    history.then(CHECKED)
    found = history.then(files)
    tested = {file.path for file in found.files if file.tests}
    assert tested - found.unchanged == set(again)


def test_an_inventory_without_checks_is_no_help_for_one_with_them(history: History) -> None:
    history.then(CHECKED)
    history.checks = True
    found = history.then({"README": "more"})
    assert not found.unchanged and all(len(file.checks) == len(file.tests) for file in found.files)
    history.checks = False
    found = history.then({"README": "still more"})
    assert not found.unchanged and not any(file.checks for file in found.files)


def test_more_than_is_worth_noting_is_not_noted(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "MOST_USES", 1)
    history.checks = True
    history.then(CHECKED)
    found = history.then({"README": "more"})
    assert not found.unchanged and found.basis is not None and found.basis.uses is None


def test_checks_that_were_known_are_not_kept_for_a_run_without_them(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "MOST_USES", 0)
    history.checks = True
    history.then(CHECKED)
    history.checks = False
    found = history.then({"README": "more"})
    assert not found.unchanged and not any(file.checks for file in found.files)


def test_what_is_kept_counts_towards_what_is_worth_noting(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    history.checks = True
    history.then({**CHECKED, "test_b.py": "def test_b(): pass\n"})
    monkeypatch.setattr(checks, "MOST_USES", 1)
    found = history.then({"test_b.py": CHECKED["test_b.py"]})
    assert found.basis is not None and found.basis.uses is None


def test_a_packed_inventory_names_each_path_once(history: History) -> None:
    folder = "long" * 50
    files = {f"{folder}/test_{n}.py": "" for n in range(20)}
    calls = "".join(f"from {folder} import m{n}\n" for n in range(20))
    text = calls + "def test_a():\n" + "".join(f"    m{n}.f()\n" for n in range(20))
    history.checks = True
    found = history.then(dict.fromkeys(files, text) | {f"{folder}/m{n}.py": "def f(): pass\n" for n in range(20)})
    assert found.basis is not None and sum(map(len, (found.basis.uses or {}).values())) == 400
    content = packed_inventory(found)
    assert content is not None and zlib.decompress(content).count(folder.encode()) < 60
    again = unpacked_inventory(content, found.commit)
    assert again == found._replace(files=tuple(file._replace(checks=()) for file in found.files))


def test_what_is_too_large_is_not_packed(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    found = history.then(PYTHON)
    monkeypatch.setattr(packing, "MOST_LETTERS", 100)
    assert packed_inventory(found) is None


def test_a_file_that_is_too_large_to_be_read_hinders_nothing_under_the_same_limit(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = 2_000
    monkeypatch.setattr(GitLimits, "__init__", partialmethod(GitLimits.__init__, blob_bytes=limit))
    large = "def test_large(): pass\n" + "#" * limit + "\n"
    history.then({**PYTHON, "tests/test_large.py": large})
    assert history.last is not None and history.last.basis is not None
    history.last = unpacked_inventory(packed_inventory(history.last) or b"", "")
    history.then({"README": "more"})
    assert history.resolved == set()
    monkeypatch.setattr(GitLimits, "__init__", partialmethod(GitLimits.__init__, blob_bytes=2 * limit))
    found = history.then({"README": "other"})
    assert "test_large" in {test.name for test in found.tests}
