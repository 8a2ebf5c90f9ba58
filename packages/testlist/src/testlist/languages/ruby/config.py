"""Which files a runner of Ruby loads by itself: the folder it looks into, and the patterns of `.rspec`."""

import re
from dataclasses import dataclass, field
from typing import Any, Final

from testlist.kit.globs import match
from testlist.project import Project, above, folder_of, joined

#: its options on a command line -> what they set
OPTIONS: Final = {
    "--pattern": "pattern",
    "-P": "pattern",
    "--exclude-pattern": "exclude",
    "--default-path": "folder",
}
SPLIT: Final = re.compile(r"\s*,\s*")
#: folders the runners look into
SPECS: Final = frozenset({"spec", "specs"})
TESTS: Final = SPECS | {"test", "tests"}


@dataclass(frozen=True, slots=True)
class Options:
    """What `.rspec` says.  An empty pattern stands for the default."""

    pattern: str = ""
    exclude: str = ""
    folder: str = "spec"

    @classmethod
    def of(cls, words: Any) -> "Options":
        """Read a command line; what it does not know is left out."""
        found: dict[str, str] = {}
        given = iter([word for word in words if isinstance(word, str)] if isinstance(words, list) else [])
        for word in given:
            name, equals, value = word.partition("=")
            if name in OPTIONS:
                found[OPTIONS[name]] = value if equals else next(given, "")
        return cls(**{name: value for name, value in found.items() if value})

    def collects(self, path: str) -> bool:
        """Whether a spec is run.  path: from the folder of `.rspec`."""
        if self.exclude and self._fits(path, self.exclude):
            return False
        return not self.pattern or self._fits(path, self.pattern)

    def _fits(self, path: str, patterns: str) -> bool:
        folder = joined("", self.folder)
        bare = [pattern.removeprefix("./") for pattern in SPLIT.split(patterns)]
        return any(match(path, one if one.startswith(folder) else f"{folder}/{one}") for one in bare)


@dataclass(slots=True)
class Collected:
    """The files of one repository that are run without being named."""

    project: Project
    options: dict[str, Options] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.options = {folder_of(path): Options.of(self.project.data(path)) for path in self.project.named(".rspec")}

    def specs(self, path: str) -> bool:
        """Whether RSpec runs a file: its name, the folder it stands in, and what `.rspec` above it says."""
        folder = next((one for one in above(path) if one in self.options), None)
        if folder is not None:
            options, inner = self.options[folder], path[len(folder) + 1 :] if folder else path
            if options.pattern:
                return options.collects(inner)
            if not path.endswith("_spec.rb") or not options.collects(inner):
                return False
            if options.folder != "spec":
                return True
        return path.endswith("_spec.rb") and not self.apart(path, SPECS)

    def apart(self, path: str, names: frozenset[str]) -> bool:
        """Whether a file stands outside of folders of some names, though there are such beside or above it."""
        if not names.isdisjoint(path.split("/")[:-1]):
            return False
        folders = self.project.folders
        return any(f"{folder}/{name}".lstrip("/") in folders for folder in above(path) for name in sorted(names))
