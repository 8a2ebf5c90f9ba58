"""Suites are worked out once, and asked twice: for the files they need, and for their tests."""

from testlist.languages.go.config_modules import Packages
from testlist.languages.go.facts import extract
from testlist.languages.go.resolve import Resolver, Type
from testlist.project import Project

SOURCE = b"""package shop
import ("testing"; "github.com/stretchr/testify/suite")
type Cart struct { suite.Suite }
func (c *Cart) TestEmpty() {}
func TestCart(t *testing.T) { suite.Run(t, new(Cart)) }
"""


def test_what_one_question_looks_at_is_not_taken_from_the_next() -> None:
    packages = Packages(Project({"cart_test.go": "1"}))
    found = Resolver.of({"cart_test.go": extract(SOURCE, "go")}, packages)
    found.left = 1  # types that may still be looked at
    assert found.needed(["cart_test.go"]) == set()
    assert found.run() == {(Type("", "Cart"), "TestEmpty")}
