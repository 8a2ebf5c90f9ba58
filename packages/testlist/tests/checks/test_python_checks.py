"""What tests in Python check, by their source alone."""

from typing import Any

import pytest
from testlist.model import Checks
from testlist_harness.checks import Read, only


def read_one(read: Read, source: str) -> dict[str, Checks | None]:
    """What the tests of one file check."""
    return read({"test_a.py": source})


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("assert total(cart) == 3", {"relation": "equal", "subject": "total(cart)", "expected": "3", "value": 3}),
        ("assert 3 == total(cart)", {"relation": "equal", "subject": "total(cart)", "expected": "3", "value": 3}),
        (
            "assert a != [1, 'x']",
            {"relation": "equal", "negated": True, "subject": "a", "expected": "[1, 'x']", "value": [1, "x"]},
        ),
        ("assert (not a)", {"relation": "truthy", "negated": True, "subject": "a"}),
        (
            "assert 'x' not in a",
            {"relation": "contains", "negated": True, "subject": "a", "expected": "'x'", "value": "x"},
        ),
        ("assert a.b is None", {"relation": "none", "subject": "a.b"}),
        ("assert a is not b", {"relation": "identical", "negated": True, "subject": "a", "expected": "b"}),
        ("assert not isinstance(a, int)", {"relation": "type", "negated": True, "subject": "a", "expected": "int"}),
        ("assert a.startswith('x')", {"relation": "starts_with", "subject": "a", "expected": "'x'", "value": "x"}),
        ("assert re.match('x+', a)", {"relation": "matches", "subject": "a", "expected": "'x+'", "value": "x+"}),
        (
            "assert 0.3 == pytest.approx(a, abs=1e-6)",
            {"relation": "approximate", "subject": "0.3", "expected": "a", "tolerance": "abs=1e-6"},
        ),
        ("assert a < b < c", {"relation": "truthy", "subject": "a < b < c"}),
        ("assert a or b", {"relation": "truthy", "subject": "a or b"}),
        ("self.assertEqual(a, 1.5)", {"relation": "equal", "subject": "a", "expected": "1.5"}),
        ("self.assertIn('x', a)", {"relation": "contains", "subject": "a", "expected": "'x'", "value": "x"}),
        (
            "self.assertAlmostEqual(a, b, places=3)",
            {"relation": "approximate", "subject": "a", "expected": "b", "tolerance": "places=3"},
        ),
        (
            "with pytest.raises(KeyError, match='no x'):\n        a()",
            {"relation": "raises", "expected": "KeyError", "message": "'no x'"},
        ),
        (
            "with self.assertRaisesRegex(KeyError, 'x'):\n        a()",
            {"relation": "raises", "expected": "KeyError", "message": "'x'"},
        ),
        ("pytest.raises(KeyError, a, 1)", {"relation": "raises", "subject": "a", "expected": "KeyError"}),
        (
            "sent.assert_called_once_with('x')",
            {"relation": "called_with", "subject": "sent", "expected": "'x'", "value": "x"},
        ),
        ("sent.mail.assert_not_called()", {"relation": "called", "negated": True, "subject": "sent.mail"}),
        (
            "np.testing.assert_allclose(a, b, rtol=1)",
            {"relation": "approximate", "subject": "a", "expected": "b", "tolerance": "rtol=1"},
        ),
        ("pytest.fail('no')", {"relation": "fails"}),
        ("tools.check_all(a)", {"relation": "custom", "subject": "a"}),
        ("for one in a:\n        if one:\n            assert one", {"relation": "truthy", "subject": "one"}),
        ("def inner():\n        assert a\n    inner()", {"relation": "truthy", "subject": "a", "nested": True}),
        ("try:\n        assert a\n    finally:\n        b()", {"relation": "truthy", "subject": "a"}),
        (
            "async with a as b, pytest.raises(ValueError):\n        pass",
            {"relation": "raises", "expected": "ValueError"},
        ),
    ],
)
def test_a_statement_is_read_as(read: Read, statement: str, check: dict[str, Any]) -> None:
    assert only(read_one(read, f"def test_a(self, a, b, c):\n    {statement}\n")) == [check]


def test_an_and_is_several_checks_of_one_line_and_literals_above_a_limit_are_source_alone(read: Read) -> None:
    [both] = read_one(read, "def test_a():\n    assert (a == 1 and\n            b == 9999999999)\n").values()
    assert both is not None
    assert [(one["line"], one.get("value")) for one in both.checks] == [(2, 1), (2, None)]


def test_checks_of_functions_that_a_test_calls_count_two_levels_deep(read: Read) -> None:
    tests = """from shop import cart
from tests.helpers import same as equal
class TestCart:
    def check(self, x):
        assert x
        self.deeper(x)
    def deeper(self, x):
        assert x > 1
        self.deepest(x)
    def deepest(self, x):
        assert x > 2
    def test_it(self):
        found = cart.total(1)
        self.check(found)
        equal(found, 2)
"""
    helpers = "def same(a, b):\n    assert a == b\n"
    [found] = read(
        {"tests/test_cart.py": tests, "tests/helpers.py": helpers, "shop/cart.py": "def total(x): return x\n"}
    ).values()
    assert found is not None
    reached = [(one["by"], one["relation"], one.get("file"), one["line"]) for one in found.checks]
    assert reached == [
        ("self.check", "truthy", None, 5), ("self.deeper", "greater", None, 8),
        ("equal", "equal", "tests/helpers.py", 2),
    ]  # fmt: skip
    assert found.subjects == ("shop/cart.py:total", "tests/helpers.py:same")


CANNOT_FAIL = {
    "empty": ["pass", "...", '"""Nothing yet."""', "# nothing\n    pass", '"a"\n    1'],
    "no_check": ["x = 1", "x = [1, 2]\n    print(x)", "x = 1\n    y = x", "return"],
    "constant": ["assert True", "assert 1 == 1", "assert (1, 'no')", "assert 'x' in 'xy'", "self.assertTrue(True)",
                 "self.assertEqual(1, 1)", "x = 1\n    assert not False", "assert 1 < 2 and 'a' != 'b'"],
    "unreachable": ["return\n    assert a()", "pytest.skip('later')\n    assert a() == 1", "x = 1\n    return x\n    assert a"],
    "ignored": ["try:\n        assert a() == 1\n    except Exception:\n        ...",
                "try:\n        assert a() == 1\n    except BaseException as error:\n        pass",
                "try:\n        self.assertEqual(a(), 1)\n    except:\n        pass"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "body"), [(reason, body) for reason, bodies in CANNOT_FAIL.items() for body in bodies]
)
def test_a_test_that_cannot_fail_is_told_with_the_reason(read: Read, reason: str, body: str) -> None:
    [found] = read_one(read, f"def test_a():\n    {body}\n").values()
    assert found is not None
    assert found.cannot_fail == reason


def after(statement: str, *, of: str = "assert a() == 1", caught: str = "AssertionError") -> str:
    """A check whose failure is caught, and what may still fail."""
    return f"try:\n        {of}\n    except {caught}:\n        pass\n    {statement}"


@pytest.mark.parametrize(
    "body",
    [
        "assert a()", "a()", "import shop", "x = shop.y", "x = {}['a']", "x = 1 / y", "raise ValueError",
        "assert True\n    a()", "if b():\n        return\n    assert a()", "assert a() == 1\n    return\n    assert True",
        "with shop():\n        pass", "async for x in y:\n        pass", "x = [z for z in y]", "lambda: 1", "del x",
        "x += 1", "x = f'{y}'", "x = y", "a(*b)", "x: int = y()", "global x\n    x = y", "for x in 3: pass",
        # known to be false, or to raise
        "assert False", "assert 0", "assert ()", "assert not True", "assert 1 == 2", "assert not (1, 2)", "assert 1 < 'a'",
        "assert 'x' in 5", "self.assertTrue(False, 'todo')", "self.assertEqual(1, 2)", "self.assertIs(1, 2)",
        "int('x')", "min([])", "x = {[1]: 2}", "print(y)", "print('a', file=y)", "pytest.fail('no')", "self.fail()",
        "assert a\n    assert True", "assert (a == 1) == True",
        # caught, but not for good
        after("else:\n        pytest.fail()"), after("else:\n        self.fail()", caught="Exception"),
        after("finally:\n        assert b"), after("finally:\n        b()", caught="Exception"), after("assert b", caught="Exception"),
        after("b()", caught="Exception"), after("if not ok: raise OSError"), after("", of="a()", caught="Exception"),
        after("", caught="ValueError"), after("", caught="AssertionError"),
        after("", of="f()\n        pytest.fail()\n        assert a", caught="Exception"),
        after("", of="with pytest.raises(OSError): assert a()", caught="Exception"),
        after("", of="assert a()\n        sys.exit(1)", caught="Exception"),
        "try:\n        assert a()\n    except AssertionError:\n        raise\n    except Exception:\n        pass",
        "try:\n        assert a()\n    except ValueError:\n        assert b\n    except Exception:\n        pass",
        "try:\n        assert a()\n    except Exception as error:\n        print(error)\n        raise",
        "while True:\n        try:\n            assert a()\n        except Exception:\n            pass\n        b()",
        # an end that is none
        "pytest.xfail('later')\n    assert a", "validate()\n    pytest.skip()\n    assert a", "pytest.skip(a())\n    assert b",
        "return a()\n    assert b", "for x in y: continue\n    assert a", "if a: return\n    assert b",
        "raise OSError\n    assert a",
    ],
)  # fmt: skip
def test_one_that_may_fail_is_never_accused(read: Read, body: str) -> None:
    [found] = read_one(read, f"def test_a():\n    {body}\n").values()
    assert found is None or found.cannot_fail is None, found


@pytest.mark.parametrize(
    "source",
    [
        "@scenario('a.feature')\ndef test_a(): pass", "@pytest.mark.usefixtures('db')\ndef test_a(): pass",
        "@pytest.mark.xfail(strict=True)\ndef test_a(): pass", "@image_comparison(['a'])\ndef test_a(): pass",
        "@pytest.fixture(autouse=True)\ndef db(): yield\ndef test_a(): pass", "def setup_module(): f()\ndef test_a(): pass",
        "class TestA:\n    def setup_method(self): f()\n    def test_a(self): pass", "pytestmark = x\ndef test_a(): pass",
        "class TestA(Base):\n    def test_a(self): pass", "@decorated\nclass TestA:\n    def test_a(self): pass",
        "class TestA(Own, unittest.TestCase):\n    def test_a(self): self.assertEqual(1, 1)",
        "from shop import print\ndef test_a(): print('x')", "print = None\ndef test_a(): print('x')",
        "async def test_a(): pass", "def test_a(x=f()): pass", "def test_a(*args): pass",
        "ctypes.string_at(0)\ndef test_a(): pass", "if a:\n    raise b\ndef test_a(): pass",
        "assert a\ndef test_a(): pass", "for a in b:\n    a.c()\ndef test_a(): pass",
        "if a():\n    b = 1\nelif c():\n    d()\ndef test_a(): pass", "while a():\n    b()\ndef test_a(): pass",
    ],
)  # fmt: skip
def test_what_stands_around_a_test_may_fail_for_it(read: Read, source: str) -> None:
    found = read_one(read, f"import pytest, unittest\n{source}\n")
    assert [one.cannot_fail if one else None for one in found.values()] == [None] * len(found)
    assert found


def test_a_path_that_a_module_adds_does_not_fail_for_its_test(read: Read) -> None:
    guard = "if __name__ == '__main__':\n    unittest.main()\n"
    found = read_one(read, f"import sys\nsys.path.insert(0, 'a')\ndef test_a(): pass\n{guard}")
    assert [one.cannot_fail if one else "" for one in found.values()] == ["empty"]


def test_what_a_fixture_of_the_file_gives_to_its_test_counts_with_it(read: Read) -> None:
    fixture = "@pytest.fixture\ndef check(again):\n    def run(a):\n        assert a == again(1)\n    return run\n"
    found = read_one(read, f"import pytest\n{fixture}def test_a(check):\n    check(1)\n")["test_a"]
    assert found is not None
    assert [one["by"] for one in found.checks] == ["check"]


@pytest.mark.parametrize(
    "source",
    [
        "if hasattr(sys, 'pypy_version_info'):\n    a = 1\nelif sys.platform.startswith('java'):\n    a = 2\nelse:\n    a = 3\n",
        "if a.b(1)[0]:\n    def c(): d()\n", "for a in range(3):\n    b = a\n", "while a.b():\n    c = 1\n",
    ],
)  # fmt: skip
def test_what_a_module_asks_before_it_gives_names_does_not_fail_for_its_test(read: Read, source: str) -> None:
    found = read_one(read, f"import sys\n{source}def test_a(): pass\n")
    assert [one.cannot_fail if one else "" for one in found.values()] == ["empty"]


def test_a_fixture_may_fail_for_its_test(read: Read) -> None:
    found = read_one(read, "def test_a(database):\n    x = 1\ndef test_b(database): pass\n")
    assert [one.cannot_fail if one else "" for one in found.values()] == [None, None]


def test_decorated_nested_and_inherited_tests_find_their_bodies(read: Read) -> None:
    found = read_one(
        read,
        """import pytest, unittest
class Base:
    def test_in_base(self): assert self.a
class TestOne(Base):
    class TestInner:
        @pytest.mark.parametrize("x", [1, 2])
        async def test_inner(self, x): assert x == 1
if True:
    def test_branch(): assert 1 < f()
class Two(unittest.TestCase):
    def test_two(self): self.assertIsNone(f())
""",
    )
    counts = {name: len(one.checks) if one else None for name, one in found.items()}
    assert counts == {"test_in_base": 1, "test_inner": 1, "test_branch": 1, "test_two": 1}
