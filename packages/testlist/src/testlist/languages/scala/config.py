"""Which Scala files may hold tests, by their paths alone."""

import re
from typing import Final

SUFFIX: Final = ".scala"
NAME: Final = re.compile(r"^Test|(?:Tests?|TestCase|Specs?|Specification|Suites?|Properties|Checks?|IT)$")
#: folders that hold tests, by name
FOLDER: Final = re.compile(r"(?i)test|spec|^(?:it|e2e|integration|functional|acceptance|multi-jvm|suites?)$")
#: folders of builds that a plugin of sbt is tried on: a run of the plugin starts them, and lists none of their tests
INPUTS: Final = frozenset({"sbt-test"})


def is_candidate(path: str) -> bool:
    """Whether a file lies among tests or is named like one; not what a build packs into a product, nor resources."""
    if not path.endswith(SUFFIX):
        return False
    *folders, name = path.split("/")
    if not INPUTS.isdisjoint(folders) or is_product(folders):
        return False
    return bool(NAME.search(name.removesuffix(SUFFIX))) or any(FOLDER.search(folder) for folder in folders)


def is_product(folders: list[str]) -> bool:
    """`src/main` of a build, and `src/NAME/resources`, whose sources nothing compiles."""
    sources = [place for place in range(len(folders) - 1) if folders[place] == "src"]
    if not sources:
        return False
    last = folders[sources[-1] + 1 :]
    return last[0] == "main" or "resources" in last[1:2]
