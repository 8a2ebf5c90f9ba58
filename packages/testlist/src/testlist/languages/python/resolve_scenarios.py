"""Functions that pytest-bdd gives a scenario to: the scenario is the test, and stands in its feature file."""

from dataclasses import dataclass, field
from typing import Final

from testlist.kit.features import is_feature
from testlist.languages.python.resolve_names import Names
from testlist.languages.python.shape import DefItem

BINDS: Final = ("pytest_bdd.scenario", "pytest_bdd.scenario.scenario")


@dataclass(slots=True)
class Scenarios:
    """The feature files of a commit.  features: their paths, by the last part; None before somebody asks."""

    names: Names
    features: dict[str, list[str]] | None = field(default=None)

    def has(self, path: str, item: DefItem) -> bool:
        """Whether a function only stands for a scenario that is a row itself.

        pytest collects the function and runs the scenario once.  A function whose feature file is not in the commit
        keeps its row, as nothing else tells of that test.  One that names its file by more than a plain string counts
        for bound if there is a feature file at all.
        """
        marks = (mark[0] for mark in item.get("marks", ()))
        return any(self.names.meaning(path, dotted) in BINDS for dotted in marks) and self.knows(item.get("feature"))

    def knows(self, feature: str | None) -> bool:
        """Whether a feature file is in the commit, wherever its project looks for it."""
        if self.features is None:
            self.features = {}
            for path in filter(is_feature, self.names.paths):
                self.features.setdefault(path.rpartition("/")[2], []).append(path)
        if feature is None:
            return bool(self.features)
        end = "/".join(part for part in feature.split("/") if part not in ("", ".", ".."))
        return any(f"/{path}".endswith(f"/{end}") for path in self.features.get(end.rpartition("/")[2], ()))
