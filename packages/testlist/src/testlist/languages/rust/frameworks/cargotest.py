"""cargo test: functions with a test attribute, and those that macros make.

Any source file may hold tests, so all are read; most are put aside by a search for a few words.  Which
macros make tests is worked out over the whole repository.  Documentation tests are not counted.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from testlist.kit.commands import is_command_file
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.rust.collect import FRAMEWORK, Collector
from testlist.languages.rust.collect_patterns import Budget
from testlist.languages.rust.language import RUST
from testlist.languages.rust.resolve import Resolver
from testlist.languages.rust.resolve_macros import Macros
from testlist.languages.rust.shape import RustFacts, shape
from testlist.model import FactsByPath, Test
from testlist.project import Project, above, folder_of, joined

#: steps of macro expansion in one repository, and in one file of it
STEPS: Final = 8_000_000
OF_ONE_FILE: Final = 400_000


@dataclass(slots=True)
class CargoScope(DefaultScope):
    """cargo in one repository."""

    project: Project

    def wants(self, path: str) -> bool:
        """Every Rust file outside of what a build leaves: a folder `target` beside a manifest, and no other."""
        return path.endswith(".rs") and not any(self.is_built(folder) for folder in above(path))

    def is_built(self, folder: str) -> bool:
        """Whether cargo writes to this folder."""
        return folder.rpartition("/")[2] == "target" and joined(folder_of(folder), "Cargo.toml") in self.project.configs

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Tests of the files that cargo would build for a test run."""
        read = {path: shape(facts[path]) for path in owned}
        macros = Macros.of(read)
        crates = Resolver.of(self.project, read, macros)
        own = set(test_attributes(read.values()))
        conditional = {path for path in owned if crates.depends(path)}
        spare = STEPS
        for path in owned:
            self.project.beat()
            if crates.runs(path):
                budget = Budget(min(OF_ONE_FILE, spare))
                spare -= budget.left
                yield from Collector(path, macros, own, budget, crates.switches_of(path)).tests(
                    read[path].get("items", []), depends=path in conditional
                )
                spare += max(0, budget.left)


def test_attributes(files: Iterable[RustFacts]) -> Iterator[str]:
    """Attributes the repository defines whose names say that they make tests."""
    for facts in files:
        for item in facts.get("items", []):
            if item["k"] == "fn" and "test" in item["name"]:
                yield from (item["name"] for attribute in item["attrs"] if attribute[0] == "proc_macro_attribute")


def config_language(path: str) -> str | None:
    """Manifests say which files are crates of their own, commands which features are ever on."""
    if path.rpartition("/")[2] == "Cargo.toml":
        return "cargo.toml"
    return "commands" if is_command_file(path) else None


#: the one test runner of its language
CARGO_TEST: Final = DeclaredFramework(FRAMEWORK, RUST.ids, CargoScope, configures=config_language)
