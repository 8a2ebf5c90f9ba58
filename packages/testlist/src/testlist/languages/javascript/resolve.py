"""All runners' view of one repository: the files that tests share, and what the names in them mean."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from testlist.languages import language_of
from testlist.languages.javascript.language import JAVASCRIPT
from testlist.languages.javascript.resolve_aliases import Aliases
from testlist.languages.javascript.shape import JavaScriptFacts, shape
from testlist.languages.javascript.vocabulary import KNOWN
from testlist.languages.javascript.vocabulary_modules import SERVING, is_own
from testlist.model import FactsByPath
from testlist.project import Project, folder_of, joined

ENDINGS: Final = ("", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts",
                  "/index.ts", "/index.tsx", "/index.js", "/index.mjs", "/index.cjs")  # fmt: skip
#: files a name is handed on through
STEPS: Final = 5
#: how TypeScript spells files that it will have compiled
COMPILED: Final = {".js": (".ts", ".tsx"), ".mjs": (".mts",), ".cjs": (".cts",), ".jsx": (".tsx",)}


class Origin(NamedTuple):
    """What a borrowed name is: a name for tests, and its modifiers.

    makes: it has to be called to be one.  title: which argument is the title.
    """

    root: str
    modifiers: tuple[str, ...]
    makes: bool
    title: int


@dataclass(slots=True)
class Resolver:
    """One repository.

    links: file -> files that it imports and that serve tests.  looked: files whose links are among the wanted ones.
    taken: files whose tests are counted already, or will be by their own right.
    """

    project: Project
    aliases: Aliases
    links: dict[str, tuple[str, ...]] = field(default_factory=dict)
    looked: set[str] = field(default_factory=set)
    wanted: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, project: Project) -> "Resolver":
        """Know nothing yet."""
        return cls(project, Aliases(project))

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files that tests share, which may define tests."""
        new = facts.keys() - self.looked
        self.looked |= new
        for path in new:
            if language_of(path) in JAVASCRIPT.ids:
                self.wanted.update(self.linked(path, shape(facts[path])))
        return self.wanted

    def linked(self, path: str, facts: JavaScriptFacts) -> tuple[str, ...]:
        """Files that a file imports and that serve tests; worked out once for all runners."""
        if path not in self.links:
            found = ((module, self.resolved(path, module)) for module in facts.get("imports", ()) if is_own(module))
            self.links[path] = tuple(
                target
                for module, target in found
                if target is not None and target != path and SERVING.search(f"{module} {target}")
            )
        return self.links[path]

    def resolved(self, path: str, module: str) -> str | None:
        """The file of the repository that an import means; None for a package from outside."""
        if module.startswith("."):
            return self.at(joined(folder_of(path), module))
        return next((found for place in self.aliases.places(path, module) if (found := self.at(place))), None)

    def at(self, target: str) -> str | None:
        """The file at a path that may lack its suffix."""
        stem, dot, suffix = target.rpartition(".")
        spelt = [f"{stem}{other}" for other in COMPILED.get(dot + suffix, ())]
        found = (one for one in (*(f"{target}{ending}" for ending in ENDINGS), *spelt) if one in self.project.paths)
        return next(found, None)

    def reached(self, paths: Iterable[str], facts: FactsByPath) -> Iterator[str]:
        """Files that files import, those that these import, and so on, each once."""
        todo = list(paths)
        seen = set(todo)
        while todo:
            path = todo.pop()
            for target in self.linked(path, shape(facts[path])) if path in facts else ():
                if target not in seen:
                    seen.add(target)
                    todo.append(target)
                    yield target

    def lent(self, path: str, facts: FactsByPath) -> dict[str, Origin]:
        """What the names mean that a file borrows from others to register tests by."""
        borrowed = shape(facts[path]).get("borrowed", {})
        origins = ((name, self.origin(path, module, there, facts)) for name, (module, there) in borrowed.items())
        return {name: found for name, found in origins if found is not None}

    def origin(self, path: str, module: str, name: str, facts: FactsByPath, steps: int = STEPS) -> Origin | None:
        """Follow one name through the files that hand it on."""
        target = self.resolved(path, module)
        if target is None or target not in facts or steps <= 0:
            return None
        exports = shape(facts[target]).get("exports", {})
        found, whole = exports.get(name), exports.get("*")
        if isinstance(found, dict):
            return self.origin(target, found["from"], found["name"], facts, steps - 1)
        if found is not None and not isinstance(found, str):
            root, modifiers, makes, title = found
            return Origin(root, tuple(modifiers), makes, title)
        if isinstance(whole, str):
            return self.origin(target, whole, name, facts, steps - 1)
        return Origin(name, (), makes=False, title=0) if name in KNOWN else None
