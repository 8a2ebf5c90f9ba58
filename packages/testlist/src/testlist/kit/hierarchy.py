"""Base classes across files: which classes of a repository end in one of somebody else's."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Generic, TypeVar

Class = TypeVar("Class")
#: bases of bases that take part in an order of lookup
DEEPEST: Final = 100
#: classes of one order; those that people write have fewer
LONGEST: Final = 500


@dataclass(slots=True)
class Hierarchy:
    """Classes by name.  is_root: whether a class that nothing here declares is what is looked for.

    bases: class -> what it inherits, wherever it is declared or extended.
    """

    root: str
    is_root: Callable[[str], bool]
    bases: dict[str, list[str]] = field(default_factory=dict)
    known: set[str] | None = None  # those that end in the root, once somebody asks

    def declare(self, name: str, bases: Iterable[str]) -> None:
        """Add what one declaration says, before anything is asked."""
        self.bases.setdefault(name, []).extend(bases)

    def ends(self, name: str) -> bool:
        """Whether a class ends in the root, through the whole repository."""
        if self.known is None:
            self.known = self._ending()
        return name in self.known or self._is_end(name)

    def _ending(self) -> set[str]:
        """Classes that end in the root, found from there: whoever is asked for first makes no difference."""
        heirs: dict[str, list[str]] = {}
        for name, bases in self.bases.items():
            for base in bases:
                heirs.setdefault(base, []).append(name)
        todo = [base for base in heirs if self._is_end(base)]
        found: set[str] = set()
        while todo:
            new = set(heirs.get(todo.pop(), ())) - found
            found |= new
            todo += new
        return found

    def _is_end(self, name: str) -> bool:
        return name == self.root or (name not in self.bases and self.is_root(name))


def ancestry(one: Class, bases: Callable[[Class], Iterable[Class]], most: int) -> list[Class]:
    """A class and all that it inherits in the repository, nearest first, each once.  most: of them that are looked at.

    bases: the direct ones.  Classes are compared, not only their names: a language may have many of one name.
    """
    chain = [one]
    for ancestor in chain:  # grows as it is read
        if len(chain) >= most:
            break
        for base in bases(ancestor):
            if base not in chain:
                chain.append(base)
            if len(chain) == LONGEST:
                return chain
    return chain


def descent(
    one: Class, bases: Callable[[Class], Iterable[Class]], key: Callable[[Class], Hashable], most: int
) -> list[Class]:
    """A class, then its first base with all that this inherits, then the next; each once, where it is met first.

    bases: the direct ones; key: identifies a class; most: of them that are looked at.
    """
    order: list[Class] = []
    seen: set[Hashable] = set()
    stack = [one]
    while stack and len(order) < most:
        found = stack.pop()
        if key(found) not in seen:
            seen.add(key(found))
            order.append(found)
            stack += reversed([*bases(found)])
    return order


@dataclass(slots=True)
class LookupOrder(Generic[Class]):
    """The order of looking members up: a class, then its first base with all that this inherits, then the next.

    A base that two of them share comes after both.  bases: the direct ones; key: identifies a class.
    """

    bases: Callable[[Class], Iterable[Class]]
    key: Callable[[Class], Hashable]
    known: dict[Hashable, list[Class]] = field(default_factory=dict)

    def of(self, one: Class, steps: int = DEEPEST) -> list[Class]:
        """A class and all that it inherits in the repository, each once; no more than `LONGEST`."""
        key = self.key(one)
        if key not in self.known:
            self.known[key] = [one]  # a class cannot be its own base, but hostile text may say so
            inherited = (ancestor for base in self.bases(one) if steps for ancestor in self.of(base, steps - 1))
            chain = [one, *islice(inherited, 10 * LONGEST)]  # those that are shared stand there more than once
            last = {self.key(ancestor): number for number, ancestor in enumerate(chain)}
            once = (ancestor for number, ancestor in enumerate(chain) if last[self.key(ancestor)] == number)
            self.known[key] = [*islice(once, LONGEST)]
        return self.known[key]
