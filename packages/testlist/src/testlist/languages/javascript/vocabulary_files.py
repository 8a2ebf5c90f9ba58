"""File names that say test, as runners take them where nothing is configured."""

import re
from functools import lru_cache
from typing import Final

SUFFIX: Final = r"\.[cm]?[jt]sx?"
#: names that hold for most runners
LIKELY: Final = re.compile(rf"\.(?:test|spec){SUFFIX}$|(?:^|/)__tests__/.*{SUFFIX}$")
#: what runners without global names find besides: all below a test folder, and other spellings
FOLDERS: Final = re.compile(rf"(?:^|/)(?:tests?|specs?|__tests__)/(?!.*/?(?:fixtures?|helpers?|samples?)/).*{SUFFIX}$")
SPELT: Final = re.compile(rf"(?:[._-](?:test|spec)|(?:^|/)(?:tests?|test-[^/]*|spec)){SUFFIX}$")
#: names of files that are only checked for their types
TYPES: Final = re.compile(r"[-.]d\.[cm]?tsx?$")


@lru_cache(maxsize=64)  # one runner after the other asks about a path
def likely(path: str) -> bool:
    """Whether the name of a file is that of a test for most runners."""
    return LIKELY.search(path) is not None


@lru_cache(maxsize=64)
def possible(path: str) -> bool:
    """Whether a file may be a test of a runner that has to be imported."""
    return TYPES.search(path) is None and (SPELT.search(path) is not None or FOLDERS.search(path) is not None)


#: names that one runner has for itself, or spells in its own way
CYPRESS: Final = re.compile(r"\.cy\.[jt]sx?$")
BUN: Final = re.compile(rf"[._](?:test|spec){SUFFIX}$")
DENO: Final = re.compile(r"(?:^|[/._])(?:test|bench)\.(?:m?[jt]s|[jt]sx)$|(?:^|/)__tests__/.*\.(?:m?[jt]s|[jt]sx)$")
JASMINE: Final = re.compile(rf"[sS]pec{SUFFIX}$")


def cypress(path: str) -> bool:
    """Whether the name of a file is one Cypress looks for."""
    return CYPRESS.search(path) is not None


def bun(path: str) -> bool:
    """Whether the name of a file is one Bun looks for."""
    return BUN.search(path) is not None


def deno(path: str) -> bool:
    """Whether the name of a file is one Deno looks for."""
    return DENO.search(path) is not None


def jasmine(path: str) -> bool:
    """Whether the name of a file is one Jasmine looks for, or one Karma is usually given."""
    return JASMINE.search(path) is not None
