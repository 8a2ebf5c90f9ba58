"""What paths say of tests, for languages whose test files need no certain name."""

import re
from collections.abc import Collection, Iterable
from typing import Final

SPEAKS: Final = re.compile(r"(?i)test|spec|check|catch|verif|(?:^|[/_.-])(?:ut|qa|tst|suite)s?(?=[/_.-])")
#: a repository of no more sources than this is read whole; in a larger one names have to say something
FEW: Final = 3_000


def speaks_of_tests(path: str) -> bool:
    """Whether a folder or file name says that there may be tests."""
    return SPEAKS.search(path) is not None


def worth_reading(paths: Iterable[str], suffixes: Collection[str]) -> frozenset[str]:
    """Sources that may hold tests: all of a small repository, those that say so of a large one."""
    sources = [path for path in paths if path.rpartition(".")[2] in suffixes]
    return frozenset(sources if len(sources) <= FEW else filter(speaks_of_tests, sources))
