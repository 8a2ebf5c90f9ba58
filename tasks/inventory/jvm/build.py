"""Build files of the JVM, as data: which runners they speak of.  They are never run."""

import re
from typing import Final

from tasks.inventory.model import Facts

#: runner -> words of its coordinates and switches, as Gradle and Maven files write them
WORDS: Final = {
    "junit5": re.compile(rb"jupiter|useJUnitPlatform|test-junit5|test\.junit5|junit-platform"),
    "junit4": re.compile(
        rb"useJUnit\(\)|test-junit\b(?!5)|test\.junit\b(?!5)|junit:junit|junit-vintage|<artifactId>junit</"
    ),
    "testng": re.compile(rb"useTestNG|test-testng|test\.testng|org\.testng|<artifactId>testng</"),
}
NAMES: Final = frozenset({"build.gradle", "build.gradle.kts", "pom.xml"})


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - every reader has it
    """Read one file: {"data": [runner, ...]}."""
    return {"data": [runner for runner, words in WORDS.items() if words.search(source)]}


def config_language(path: str) -> str | None:
    """Format of a build file; None for any other file."""
    return "jvm-build" if path.rpartition("/")[2] in NAMES else None
