"""Classes whose tests are calls: one framework has them, and all runners of the JVM read them."""

import pytest
from testlist.interface import Framework
from testlist.languages.jvm.frameworks.junit5 import JUNIT5
from testlist.languages.jvm.frameworks.kotest import KOTEST
from testlist_harness.repositories import MakeRepository, TakeInventory

FILES = {
    "src/test/kotlin/CartTest.kt": """import io.kotest.core.spec.style.FunSpec
import org.junit.jupiter.api.Test

class CartSpec : FunSpec({
    test("an empty cart costs nothing") { total() }
})

class CartTest {
    @Test
    fun discount() = Unit
}
"""
}
BOTH = [("kotest", "an empty cart costs nothing", 5), ("junit5", "discount", 10)]


@pytest.mark.parametrize("frameworks", [(JUNIT5, KOTEST), (KOTEST, JUNIT5)], ids=["kotest last", "kotest first"])
def test_specifications_are_found_whichever_framework_is_asked_first(
    frameworks: tuple[Framework, ...], make_repository: MakeRepository, take: TakeInventory
) -> None:
    found = take(make_repository(FILES), frameworks=frameworks)
    assert [(test.framework, test.name, test.line) for test in found.tests] == BOTH


def test_a_runner_is_asked_alone(make_repository: MakeRepository, take: TakeInventory) -> None:
    found = take(make_repository(FILES), frameworks=(JUNIT5,))
    assert [(test.framework, test.name, test.line) for test in found.tests] == BOTH[1:]
