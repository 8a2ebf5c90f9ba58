"""Names across the files of a repository: what a dotted name in a file stands for."""

import sys
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from testlist.languages.python.shape import Binding, DelItem, ImportItem, Item, SetItem, shape
from testlist.model import FactsByPath
from testlist.project import DEEPEST

#: more steps than any honest chain of aliases and re-exports takes
STEPS: Final = 12
#: folders that a project's own packages may lie in
SOURCES: Final = ("src", "lib")


class Found(NamedTuple):
    """What a name of the repository is bound to.  outer: the classes it stands in."""

    path: str
    item: Binding
    outer: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, int]:
        """The identity of the binding; files of the same text share their items."""
        return self.path, id(self.item)


#: a Found, or the dotted name of something outside the repository
Meaning = Found | str


@dataclass(slots=True)
class Names:
    """All modules read so far.

    paths: every file of the commit, to decide which imports lead into it.  modules: last names of all its modules.
    """

    facts: FactsByPath
    paths: AbstractSet[str]
    modules: frozenset[str]
    tables: dict[str, dict[str, Found]] = field(default_factory=dict)
    located: dict[tuple[str, str, int], str | None] = field(default_factory=dict)
    lost: dict[str, dict[str, Found]] = field(default_factory=dict)

    def body(self, path: str) -> list[Item]:
        """Items of a module; empty for one that was not or could not be read."""
        return shape(self.facts.get(path, {})).get("body", [])

    def table(self, path: str) -> dict[str, Found]:
        """Names a module binds at its end, in order of first binding."""
        if path not in self.tables:
            self.tables[path] = {}  # a cycle of star imports sees what is known by then
            self.lost[path] = {}
            self.tables[path] = bind(self._expanded(path), self.lost[path])
        return self.tables[path]

    def bound(self, path: str, name: str, user: Item | None = None) -> Found | None:
        """What a name of a module stands for where it is used, even if it is deleted or taken over later.

        user: the class that uses it; one called like its base has taken the name over.
        """
        found, lost = self.table(path).get(name), self.lost[path].get(name)
        return lost if found is None or (lost and user is not None and found.item is user) else found

    def _expanded(self, path: str) -> Iterator[Found | DelItem]:
        for item in self.body(path):
            if item["k"] != "star":
                yield from declared(path, [item])
            elif source := self.locate(path, item["module"], item["level"]):
                yield from self.exported(source)

    def stars(self, path: str) -> Iterator[str]:
        """Files of the repository whose names a module takes by star imports."""
        for item in self.body(path):
            if item["k"] == "star" and (source := self.locate(path, item["module"], item["level"])):
                yield source

    def exported(self, path: str) -> Iterator[Found]:
        """What `from module import *` brings: what `__all__` lists, else every name without an underscore."""
        table = self.table(path)
        listing = table["__all__"].item if "__all__" in table else None
        listed = frozenset(listing.get("strings") or ()) if listing is not None and listing["k"] == "set" else None
        yield from (found for name, found in table.items() if (name in listed if listed else name[0] != "_"))

    def locate(self, path: str, module: str, level: int) -> str | None:
        """Find the file of a module as seen from a file; None outside the repository."""
        folder = path.rpartition("/")[0]
        key = (folder, module, level)
        if key not in self.located:
            places = [parent(folder, level)] if level else self.roots(folder, module) if self.is_here(module) else ()
            self.located[key] = next((found for place in places if (found := self._file(place, module))), None)
        return self.located[key]

    def is_here(self, module: str) -> bool:
        """Whether the commit has a module of this last name at all: most of what is imported is from outside."""
        return not module or module.replace(".", "/").rpartition("/")[2] in self.modules

    def roots(self, folder: str, module: str) -> Iterator[str]:
        """Folders in which an absolute import may look for a module, likeliest first.

        A test run puts the folder of a test, one of its parents or the source root on the path; which of them
        depends on its packages and configuration, and the nearest that has the module is nearly always right.
        The folder of a package seldom is one, and never hides a module of the standard library.
        """
        parts = folder.split("/") if folder else []
        above = ["/".join(parts[:length]) for length in range(len(parts), -1, -1)]
        packages = [place for place in above if f"{place}/__init__.py".lstrip("/") in self.paths]
        for place in above:
            inside = (f"{place}/{source}".lstrip("/") for source in SOURCES)
            yield from inside if place in packages else (place, *inside)
        if module.partition(".")[0] not in sys.stdlib_module_names:
            yield from packages

    def _file(self, folder: str, module: str) -> str | None:
        stem = "/".join(part for part in (folder, module.replace(".", "/")) if part)
        return next((path for path in (f"{stem}.py", f"{stem}/__init__.py") if path in self.paths), None)

    def meaning(self, path: str, dotted: str, steps: int = STEPS, user: Item | None = None) -> Meaning:
        """Follow a dotted name used at module level of a file.  user: the class whose base it is."""
        head, _, rest = dotted.partition(".")
        found = self.bound(path, head, user)
        return self._follow(found, rest, steps) if found else dotted

    def _follow(self, found: Found, rest: str, steps: int) -> Meaning:
        item = found.item
        if steps <= 0:
            return rest
        if item["k"] == "import":
            return self._imported(found.path, item, rest, steps)
        if item["k"] == "set":
            return self._assigned(found, item, rest, steps)
        if not rest:
            return found
        head, _, rest = rest.partition(".")
        body = item["body"] if item["k"] == "class" else ()
        inner = bind(declared(found.path, body, (*found.outer, item["name"]))).get(head)
        return self._follow(inner, rest, steps - 1) if inner else f"{item['name']}.{head}"

    def _assigned(self, found: Found, item: SetItem, rest: str, steps: int) -> Meaning:
        values = item["values"]
        if len(values) != 1 or values[0][0].split(".")[0] == item["name"]:
            return found
        head = item.get("partial", values[0][0])
        dotted = f"{head}.{rest}" if rest else head
        meaning = self.meaning(found.path, dotted, steps - 1)
        if isinstance(meaning, str) or not item.get("called"):
            return meaning
        if meaning.item["k"] == "def" and "built" in meaning.item and not rest:
            return Found(meaning.path, meaning.item["built"][0], (*meaning.outer, meaning.item["name"]))
        return found  # a call's result is not what was called, except where only the name counts, as with marks

    def _imported(self, path: str, item: ImportItem, rest: str, steps: int) -> Meaning:
        words = [word for word in (item.get("of", ""), *rest.split(".")) if word]
        for taken in range(min(len(words), DEEPEST), -1, -1):  # the longest prefix that is a module
            module = ".".join([item["module"], *words[:taken]]).strip(".")
            source = self.locate(path, module, item["level"])
            if source and taken == len(words):
                return ".".join(words)
            if source and words[taken] in self.table(source):
                return self._follow(self.table(source)[words[taken]], ".".join(words[taken + 1 :]), steps - 1)
        return ".".join([item["module"], *words])

    def needed(self, path: str, dotted: str, user: Item | None = None) -> Iterator[str]:
        """Files not read yet that a dotted name of a file leads to.  user: as for `meaning`."""
        found = self.bound(path, dotted.partition(".")[0], user)
        for _ in range(STEPS):
            if found is None or found.item["k"] != "import":
                return
            item = found.item
            words = [item["module"], *filter(None, [item.get("of")]), *dotted.split(".")[1:]]
            sources = [
                source
                for taken in range(1, min(len(words), DEEPEST) + 1)
                if (source := self.locate(found.path, ".".join(filter(None, words[:taken])), item["level"]))
            ]
            yield from (source for source in sources if source not in self.facts)
            known = next((source for source in reversed(sources) if source in self.facts), None)
            found = self.table(known).get(item.get("of") or dotted.rsplit(".", maxsplit=1)[-1]) if known else None


def declared(path: str, body: Iterable[Item], outer: tuple[str, ...] = ()) -> Iterator[Found | DelItem]:
    """What the items of a body do to its names."""
    for item in body:
        if item["k"] in ("def", "class", "set", "import"):
            yield Found(path, item, outer)
        elif item["k"] == "del":
            yield item


def bind(items: Iterable[Found | DelItem], lost: dict[str, Found] | None = None) -> dict[str, Found]:
    """Names bound after a body has run: later ones replace earlier, an else branch only fills gaps.

    lost: gets those that are deleted, and those replaced by a class that is built on them.
    """
    table: dict[str, Found] = {}
    for one in items:
        if not isinstance(one, Found):
            gone = table.pop(one["name"], None)
            if gone is not None and lost is not None:
                lost[one["name"]] = gone
            continue
        item, name = one.item, one.item["name"]
        if not name or "add" in item or (name in table and keeps(item)):
            continue
        if lost is not None and name in table and item["k"] == "class" and name in item["bases"]:
            lost[name] = table[name]
        table[name] = one
    return table


def keeps(item: Binding) -> bool:
    """Whether an item leaves a name with what it has: one of an else branch, or a call that decorates it."""
    return "other" in item or "again" in item


def last_names(paths: Iterable[str]) -> Iterator[str]:
    """What modules and packages of these paths are called, without their folders."""
    for path in paths:
        if path.endswith(".py"):
            folder, _, name = path.rpartition("/")
            yield name.removesuffix(".py")
            if name == "__init__.py":
                yield folder.rpartition("/")[2]


def parent(folder: str, level: int) -> str:
    """The folder that so many leading dots of an import mean."""
    parts = folder.split("/") if folder else []
    return "/".join(parts[: len(parts) - level + 1])
