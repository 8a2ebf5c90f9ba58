"""Members of Python classes, as an object would find them."""

from testlist.languages.python.facts import extract
from testlist.languages.python.resolve_classes import Class, Classes
from testlist.languages.python.resolve_names import Names

SOURCE = b"""
class Base:
    def test_total(self): ...

class Shared(Base):
    def test_empty(self): ...

class Mixin(Base):
    def test_total(self): ...
    def check(self): ...

class TestCart(Shared, Mixin):
    test_this = check = Mixin.check
"""


def test_a_base_that_two_share_comes_after_both() -> None:
    names = Names({"test_a.py": extract(SOURCE, "python")}, frozenset({"test_a.py"}), frozenset({"test_a"}))
    classes, cart = Classes(names), Class.of(names.meaning("test_a.py", "TestCart"))
    assert cart is not None
    order = classes.order(cart)
    assert [one.item["name"] for one in order] == ["TestCart", "Shared", "Mixin", "Base"]
    members = classes.members(order)
    assert members["test_total"].outer == ("Mixin",)
    assert members["test_this"] == members["check"]
    assert (members["check"].item["k"], members["check"].outer) == ("def", ("Mixin",))
