"""Classes of Ruby files: which end in a test case, and which modules are mixed into one."""

import pytest
from testlist.languages.ruby.facts import extract
from testlist.languages.ruby.resolve_classes import Classes
from testlist.languages.ruby.shape import shape

SOURCE = b"""
module Shop
  class Test < Runnable; end
  class CartTest < Test; include Prices; end
  class Cart < Item; end
  class Helper < HelperTest; end
  class HelperTest; end
  class Loop < Loop; end
  module Prices; include Taxes; end
  module Taxes; end
  module Colours; end
end
class TotalTest < Minitest::Test; include Shop::Prices; end
"""


@pytest.fixture(scope="module")
def classes() -> Classes:
    return Classes.of([shape(extract(SOURCE, "ruby"))])


@pytest.mark.parametrize(
    ("namespace", "name", "base", "is_test"),
    [
        ("", "TotalTest", "Minitest::Test", True),
        ("Shop", "Test", "Runnable", False),
        ("Shop", "CartTest", "Test", False),  # the repository's own, which is no test case
        ("Shop", "Helper", "HelperTest", True),  # a class without bases of its own is opened again
        ("Shop", "Helper", None, True),
        ("Shop", "Loop", "Loop", False),
        ("", "Test::Unit::TestCase", None, True),
    ],
)
def test_a_class_ends_in_a_test_case(
    classes: Classes, namespace: str, name: str, base: str | None, is_test: bool
) -> None:
    assert classes.is_test(namespace, name, base) is is_test


def test_a_module_is_mixed_in_through_another(classes: Classes) -> None:
    assert classes.in_tests == {"Shop::Prices", "Shop::Taxes"}
