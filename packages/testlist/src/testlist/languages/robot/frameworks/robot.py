"""Robot Framework: test cases and tasks of `.robot` files, below their suites.

Suites are files and, from the outermost folder with an `__init__.robot` on, folders: which one a command begins with is
not known.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.robot.collect import FRAMEWORK, around, collect
from testlist.languages.robot.language import ROBOT as LANGUAGE
from testlist.languages.robot.resolve import Folders
from testlist.languages.robot.shape import shape
from testlist.model import FactsByPath, Test

SUFFIX: Final = ".robot"
#: folders whose files are the input of a program, as of Robot Framework itself
INPUTS: Final = frozenset({"fixture", "fixtures", "testdata"})


@dataclass(frozen=True, slots=True)
class RobotScope(DefaultScope):
    """Robot Framework in one repository."""

    folders: Folders

    def wants(self, path: str) -> bool:
        """Files with its suffix."""
        return path.endswith(SUFFIX) and INPUTS.isdisjoint(path.split("/")[:-1])

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Tests, file by file."""
        for path in owned:
            one = shape(facts[path])
            if "tests" in one:
                above = [(folder, shape(facts.get(place, {}))) for folder, place in self.folders.above(path)]
                yield from collect(path, one, around(path, one, above))


ROBOT: Final = DeclaredFramework(FRAMEWORK, LANGUAGE.ids, lambda project: RobotScope(project.once(Folders.of)))
