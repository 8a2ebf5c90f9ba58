"""Names across the files of a repository: what a dotted name in a file stands for."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tasks.inventory.model import Facts

Item = dict[str, Any]
#: more steps than any honest chain of aliases and re-exports takes
STEPS: Final = 12


@dataclass(frozen=True, slots=True)
class Found:
    """A def, class or assignment of the repository.  outer: the classes it stands in."""

    path: str
    item: Item
    outer: tuple[str, ...] = ()


#: a Found, or the dotted name of something outside the repository
Meaning = Found | str


@dataclass(slots=True)
class Names:
    """All modules read so far.  paths: every file of the commit, to tell which imports lead into it."""

    facts: Mapping[str, Facts]
    paths: frozenset[str]
    tables: dict[str, dict[str, Found]] = field(default_factory=dict)
    located: dict[tuple[str, str, int], str | None] = field(default_factory=dict)

    def body(self, path: str) -> list[Item]:
        """Items of a module; empty for one that was not or could not be read."""
        body: list[Item] = self.facts.get(path, {}).get("body", [])
        return body

    def table(self, path: str) -> dict[str, Found]:
        """Names a module binds at its end, in order of first binding."""
        if path not in self.tables:
            self.tables[path] = {}  # a cycle of star imports sees what is known by then
            self.tables[path] = bind(self._expanded(path))
        return self.tables[path]

    def _expanded(self, path: str) -> Iterator[Found]:
        for item in self.body(path):
            if item["k"] != "star":
                yield Found(path, item)
            elif source := self.locate(path, item["module"], item["level"]):
                yield from self.exported(source)

    def exported(self, path: str) -> Iterator[Found]:
        """What `from module import *` brings: what `__all__` lists, else every name without an underscore."""
        table = self.table(path)
        listed = table["__all__"].item.get("strings") if "__all__" in table else None
        yield from (found for name, found in table.items() if (name in listed if listed else name[0] != "_"))

    def locate(self, path: str, module: str, level: int) -> str | None:
        """Find the file of a module as seen from a file; None outside the repository."""
        folder = path.rpartition("/")[0]
        key = (folder, module, level)
        if key not in self.located:
            self.located[key] = next(
                (found for place in places(folder, level) if (found := self._file(place, module))), None
            )
        return self.located[key]

    def _file(self, folder: str, module: str) -> str | None:
        stem = "/".join(part for part in (folder, module.replace(".", "/")) if part)
        return next((path for path in (f"{stem}.py", f"{stem}/__init__.py") if path in self.paths), None)

    def meaning(self, path: str, dotted: str, steps: int = STEPS) -> Meaning:
        """Follow a dotted name used at module level of a file."""
        head, _, rest = dotted.partition(".")
        found = self.table(path).get(head)
        return self._follow(found, rest, steps) if found else dotted

    def _follow(self, found: Found, rest: str, steps: int) -> Meaning:
        item = found.item
        if steps <= 0:
            return rest
        if item["k"] == "import":
            return self._imported(found, rest, steps)
        if item["k"] == "set":
            return self._assigned(found, rest, steps)
        if not rest:
            return found
        head, _, rest = rest.partition(".")
        inner = bind(Found(found.path, child, (*found.outer, item["name"])) for child in item.get("body", [])).get(head)
        return self._follow(inner, rest, steps - 1) if inner else f"{item['name']}.{head}"

    def _assigned(self, found: Found, rest: str, steps: int) -> Meaning:
        values = found.item.get("values", [])
        if len(values) != 1 or values[0][0].split(".")[0] == found.item["name"]:
            return found
        dotted = f"{values[0][0]}.{rest}" if rest else values[0][0]
        meaning = self.meaning(found.path, dotted, steps - 1)
        # a call's result is not what was called, except where only the name counts, as with marks
        return found if isinstance(meaning, Found) and found.item.get("called") else meaning

    def _imported(self, found: Found, rest: str, steps: int) -> Meaning:
        item = found.item
        words = [word for word in (item.get("of", ""), *rest.split(".")) if word]
        for taken in range(len(words), -1, -1):  # the longest prefix that is a module
            module = ".".join([item["module"], *words[:taken]]).strip(".")
            source = self.locate(found.path, module, item["level"])
            if source and taken == len(words):
                return ".".join(words)
            if source and words[taken] in self.table(source):
                return self._follow(self.table(source)[words[taken]], ".".join(words[taken + 1 :]), steps - 1)
        return ".".join([item["module"], *words])

    def needed(self, path: str, dotted: str) -> Iterator[str]:
        """Files not read yet that a dotted name of a file leads to."""
        found = self.table(path).get(dotted.partition(".")[0])
        for _ in range(STEPS):
            if found is None or found.item["k"] != "import":
                return
            item = found.item
            words = [item["module"], *filter(None, [item.get("of")]), *dotted.split(".")[1:]]
            sources = [
                source
                for taken in range(1, len(words) + 1)
                if (source := self.locate(found.path, ".".join(filter(None, words[:taken])), item["level"]))
            ]
            yield from (source for source in sources if source not in self.facts)
            known = next((source for source in reversed(sources) if source in self.facts), None)
            found = self.table(known).get(item.get("of") or dotted.rsplit(".", maxsplit=1)[-1]) if known else None


def bind(items: Iterable[Found]) -> dict[str, Found]:
    """Names bound after a body has run: later ones replace earlier, an else branch only fills gaps."""
    table: dict[str, Found] = {}
    for found in items:
        name = found.item.get("name", "")
        if found.item["k"] == "del":
            table.pop(name, None)
        elif name and not (found.item.get("other") and name in table) and not found.item.get("add"):
            table[name] = found
    return table


def places(folder: str, level: int) -> Iterator[str]:
    """Folders in which a module may be looked for, likeliest first.

    A test run puts the folder of a test, one of its parents or the source root on the path; which of them
    depends on its packages and configuration, and the nearest that has the module is nearly always right.
    """
    parts = folder.split("/") if folder else []
    if level:
        yield "/".join(parts[: len(parts) - level + 1])
        return
    for length in range(len(parts), -1, -1):
        base = "/".join(parts[:length])
        yield base
        yield from (f"{base}/{source}" if base else source for source in ("src", "lib"))
