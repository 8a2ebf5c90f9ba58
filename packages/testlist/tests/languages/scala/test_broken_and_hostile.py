"""Scala files that are broken, or written to cost much, harm no other."""

import pytest
from testlist_harness.repositories import MakeRepository, TakeInventory

GOOD = {"src/test/scala/GoodSuite.scala": 'class GoodSuite extends munit.FunSuite {\n  test("good") {}\n}\n'}
BESIDE = {
    "a class without a name": "case class (a: Int) extends Base\n",
    "calls in each other": "import utest._\nobject A extends Base { " + 'f("a") { ' * 40 + "1" + " }" * 40 + " }\n",
    "a name of many letters": "class A extends weaver." + "Suite" * 20_000 + "$\n",
}


@pytest.mark.parametrize("beside", BESIDE)
def test_a_file_costs_no_other_its_tests(beside: str, make_repository: MakeRepository, take: TakeInventory) -> None:
    found = take(make_repository({**GOOD, "src/test/scala/Bad.scala": BESIDE[beside]}))
    assert [(test.framework, test.name) for test in found.tests] == [("munit", "good")]
    assert not any(file.skipped for file in found.files)
