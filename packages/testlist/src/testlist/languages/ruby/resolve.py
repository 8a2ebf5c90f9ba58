"""Both Ruby frameworks' view of one repository: whose a file is, and what its classes and modules are."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final

from testlist.kit.scope import Growing
from testlist.languages import language_of
from testlist.languages.ruby.config import Collected
from testlist.languages.ruby.language import RUBY
from testlist.languages.ruby.resolve_classes import Classes
from testlist.languages.ruby.resolve_names import Names
from testlist.languages.ruby.shape import Item, RubyFacts, shape
from testlist.languages.ruby.vocabulary import METHOD_LIKE
from testlist.model import Facts, FactsByPath
from testlist.project import Project, endings, folder_of, joined

#: files that say for their whole tree which framework is loaded
HELPERS: Final = frozenset({"spec_helper", "rails_helper", "test_helper", "helper", "minitest_helper"})
#: helpers whose names tell
NAMED: Final = {"rails_helper": "rspec", "minitest_helper": "minitest"}
#: words of class names, for the file name they are stored under
WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9_]*|[a-z0-9_]+")
#: helpers that require helpers
STEPS: Final = 4


@dataclass(slots=True)
class Resolver:
    """One repository."""

    project: Project
    spoken: dict[tuple[str, int], str | None] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    known: Growing[Classes] = field(default_factory=lambda: Growing(Classes()))
    wanted: Growing[set[str]] = field(default_factory=lambda: Growing(set()))
    required: Growing[frozenset[str]] = field(default_factory=lambda: Growing(frozenset()))

    @classmethod
    def of(cls, project: Project) -> "Resolver":
        """Nothing is read before it is asked for."""
        return cls(project)

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files that base classes come from, by the name such a file has."""
        return self.wanted.of(facts, lambda: self.leads(facts))

    def leads(self, facts: FactsByPath) -> set[str]:
        """What is needed beyond what has been read."""
        self.names.learn(facts)
        return {path for name in self.names.unknown() for path in self.files_of(name)}

    def classes(self, facts: FactsByPath) -> Classes:
        """Every class and module read so far."""
        return self.known.of(facts, lambda: Classes.of(read(facts)))

    def runs(self) -> Collected:
        """What is run without being named."""
        return self.project.once(Collected)

    def is_required(self, path: str) -> bool:
        """Whether a file that was read requires another by its name."""
        required = self.required.of(self.project.facts, self.requires)
        return not required.isdisjoint(endings(path.removesuffix(".rb")))

    def requires(self) -> frozenset[str]:
        """What files that were read require, without the way to it."""
        return frozenset(plain(name) for one in read(self.project.facts) for name in one.get("requires", ()))

    def files_of(self, name: str) -> list[str]:
        """Files that by convention define a class of this name."""
        found = self.project.once(stems).get("_".join(word.lower() for word in WORD.findall(name)), [])
        return found if len(found) < 8 else []

    def speaks(self, path: str, facts: Facts, steps: int = 0) -> str | None:
        """The framework a file loads, itself or through its helper; None if nothing says."""
        key = path, steps  # what is found in fewer steps is another answer, whoever asks first
        if key not in self.spoken:
            self.spoken[key] = own_words(shape(facts)) or self._by_helper(path, shape(facts), steps)
        return self.spoken[key]

    def _by_helper(self, path: str, facts: RubyFacts, steps: int) -> str | None:
        """What the files say that a file requires; a spec's helper may be required by configuration alone."""
        if steps >= STEPS:
            return None
        for name in (*facts.get("requires", []), *(["spec_helper"] if path.endswith("_spec.rb") else [])):
            stem = name.rpartition("/")[2].removesuffix(".rb")
            places = [f"{joined(folder_of(path), name).removesuffix('.rb')}.rb"]
            places += self._places(path, stem) if stem in HELPERS else ()
            helper = next((one for one in places if one in self.project.facts and one != path), None)
            said = self.speaks(helper, self.project.facts[helper], steps + 1) if helper is not None else None
            if said or stem in NAMED:
                return said or NAMED[stem]
        return None

    def _places(self, path: str, stem: str) -> Iterator[str]:
        """Where a helper may lie, nearest first."""
        folder = folder_of(path)
        while True:
            for inner in ("", "spec/", "test/"):
                yield f"{folder}/{inner}{stem}.rb" if folder else f"{inner}{stem}.rb"
            if not folder:
                return
            folder = folder_of(folder)


def read(facts: FactsByPath) -> Iterator[RubyFacts]:
    """Facts of the Ruby files, in the order of their paths."""
    return (shape(facts[path]) for path in sorted(facts) if language_of(path) in RUBY.ids)


def stems(project: Project) -> dict[str, list[str]]:
    """What Ruby files are called -> their paths."""
    found: dict[str, list[str]] = {}
    for path in project.blobs:
        if path.endswith(".rb"):
            found.setdefault(path.rpartition("/")[2].removesuffix(".rb"), []).append(path)
    return found


def plain(name: str) -> str:
    """What a file is required as, without the way to it."""
    return "/".join(part for part in name.removesuffix(".rb").split("/") if part not in ("", ".", ".."))


def is_template(path: str) -> bool:
    """Whether a path is that of a file a generator copies, which is no Ruby yet."""
    return {"generators", "templates"} <= set(path.split("/")[:-1])


def own_words(facts: RubyFacts) -> str | None:
    """The framework a file names itself."""
    requires, uses = facts.get("requires", []), facts.get("uses", [])
    if any(one.split("/")[0] == "minitest" or one == "test/unit" for one in requires):
        return "minitest"
    if any(one.split("/")[0] in ("rspec", "rspec-rails") for one in requires) or "RSpec" in uses:
        return "rspec"
    if any(one.split("::")[0] in ("Minitest", "MiniTest") for one in uses):
        return "minitest"
    return None


def has_groups(facts: RubyFacts, kinds: Collection[str]) -> bool:
    """Whether a file declares a group of some kinds, or a method that declares examples."""
    todo: list[Item] = list(facts.get("items", []))
    while todo:
        item = todo.pop()
        declares = item["k"] == "macro" and any(
            inner["k"] == "call" and inner["m"] not in METHOD_LIKE for inner in item["body"]
        )
        if declares or (item["k"] == "call" and (item["m"] in kinds or item["m"][1:] in kinds)):
            return True
        if item["k"] == "module":
            todo += item["body"]
        elif item["k"] == "class":
            todo += [inner for inner in item["body"] if inner["k"] != "macro"]
    return False
