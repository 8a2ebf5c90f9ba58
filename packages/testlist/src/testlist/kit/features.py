"""Which files are feature files of the repository: Gherkin lists their scenarios, and pytest leaves them to it."""

from typing import Final

SUFFIX: Final = ".feature"
#: folders whose feature files are the input of a program
INPUTS: Final = frozenset(
    {"fixture", "fixtures", "Fixtures", "__fixtures__", "testdata", "test-data", "test_data", "TestData", "template",
     "templates"}
)  # fmt: skip


def is_feature(path: str) -> bool:
    """Whether the scenarios of a file are rows."""
    return path.endswith(SUFFIX) and INPUTS.isdisjoint(path.split("/")[:-1])
