"""The example of the guide is a framework that works."""

import re
from pathlib import Path
from typing import Any

from testlist.languages import all_frameworks
from testlist_harness.repositories import MakeRepository, TakeInventory

GUIDE = Path(__file__).resolve().parents[3] / "docs/frameworks.md"
FILES = {
    "test_cart.py": """from ward import skip, test, xfail as broken


@test("an empty cart costs nothing")
def empty():
    pass


@skip("later")
@test("a discount")
def discount():
    pass


@test("rounds")
@broken("half a cent")
def rounding():
    pass


def helper():
    pass
""",
    "test_other.py": "def test_of_pytest():\n    pass\n",
    "cart.py": "from ward import test\n\n@test('not a test file')\ndef no():\n    pass\n",
}


def example() -> Any:
    [code] = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    module: dict[str, Any] = {"__name__": "guide"}
    exec(compile(code, str(GUIDE), "exec"), module)
    return module["WARD"]


def test_the_example_of_the_guide_lists_its_tests_beside_the_other_frameworks(
    make_repository: MakeRepository, take: TakeInventory
) -> None:
    found = take(make_repository(FILES), frameworks=(*all_frameworks(), example()))
    assert [(test.file, test.framework, test.name, test.line, test.status) for test in found.tests] == [
        ("test_cart.py", "ward", "empty", 5, "active"),
        ("test_cart.py", "ward", "discount", 11, "skipped"),
        ("test_cart.py", "ward", "rounding", 17, "xfail"),
        ("test_other.py", "pytest", "test_of_pytest", 1, "active"),
    ]
