"""Names that Ruby files define, and those that they build on: what decides which files are read next."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from testlist.languages import language_of
from testlist.languages.ruby.language import RUBY
from testlist.languages.ruby.resolve_classes import bases, is_test_name
from testlist.languages.ruby.shape import Item, shape
from testlist.model import FactsByPath


@dataclass(slots=True)
class Names:
    """What all files that were read say.

    files: that were learnt; defined: last names of classes and modules; used: bases and modules mixed in, as written.
    """

    files: set[str] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)

    def learn(self, facts: FactsByPath) -> None:
        """Add the files that are new since the last round, which are few: the rounds of a large repository are five."""
        for path in facts.keys() - self.files:
            self.files.add(path)
            if language_of(path) in RUBY.ids:
                items = shape(facts[path]).get("items", [])
                self.defined.update(defined(items))
                self.used.update(bases(items))

    def unknown(self) -> set[str]:
        """Last names of what is used, but defined in no file that was read."""
        last = {name.rpartition("::")[2] for name in self.used if not is_test_name(name)}
        return last - self.defined


def defined(items: Iterable[Item]) -> Iterator[str]:
    """Last names of the classes and modules of a file."""
    for item in items:
        if item["k"] in ("class", "module"):
            yield item["name"].rpartition("::")[2]
            yield from defined(item["body"])
        elif item["k"] in ("macro", "call"):
            yield from defined(item.get("body", ()))
