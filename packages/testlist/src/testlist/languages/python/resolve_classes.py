"""Classes across the files of a repository: what they inherit, and the members that their objects have."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from testlist.kit.hierarchy import LookupOrder
from testlist.languages.python.resolve_names import Found, Meaning, Names, bind, declared
from testlist.languages.python.shape import ClassItem, SetItem


class Class(NamedTuple):
    """A class of the repository.  outer: the classes it stands in."""

    path: str
    item: ClassItem
    outer: tuple[str, ...] = ()

    @classmethod
    def of(cls, meaning: Meaning) -> "Class | None":
        """What a name stands for, if that is a class."""
        if isinstance(meaning, str) or meaning.item["k"] != "class":
            return None
        return cls(meaning.path, meaning.item, meaning.outer)

    @property
    def key(self) -> tuple[str, int]:
        """The identity of the class; files of the same text share their items."""
        return self.path, id(self.item)


@dataclass(slots=True)
class Classes:
    """The classes of all modules read so far."""

    names: Names
    orders: LookupOrder[Class] = field(init=False)

    def __post_init__(self) -> None:
        """Look bases up by their names."""
        self.orders = LookupOrder(self.bases, lambda one: one.key)

    def order(self, one: Class) -> list[Class]:
        """A class and its bases in the repository, as its members are looked up."""
        return self.orders.of(one)

    def bases(self, one: Class) -> Iterator[Class]:
        """Direct bases in the repository."""
        return (base for meaning in self.meanings(one) if (base := Class.of(meaning)) is not None)

    def outside(self, order: list[Class]) -> Iterator[str]:
        """Direct bases of these classes that the repository does not hold."""
        return (meaning for one in order for meaning in self.meanings(one) if isinstance(meaning, str))

    def meanings(self, one: Class) -> Iterator[Meaning]:
        """What the names of its bases stand for."""
        return (self.names.meaning(one.path, dotted, user=one.item) for dotted in one.item["bases"])

    def members(self, order: list[Class]) -> dict[str, Found]:
        """Names of a class and its bases in the repository, each as the class itself would find it."""
        table: dict[str, Found] = {}
        for one in reversed(order):
            table |= bind(declared(one.path, one.item["body"], (*one.outer, one.item["name"])))
        return {
            name: self.aliased(member, member.item, table) if member.item["k"] == "set" else member
            for name, member in table.items()
        }

    def aliased(self, member: Found, item: SetItem, members: Mapping[str, Found]) -> Found:
        """An assigned member, or for `test_this = check` the def that it is another name of."""
        if "called" in item or len(item["values"]) != 1:
            return member
        dotted = item["values"][0][0]
        other = members.get(dotted) or self.names.meaning(member.path, dotted)
        return other if isinstance(other, Found) and other.item["k"] == "def" else member
