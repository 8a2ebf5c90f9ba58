"""Build files of the JVM, as data: runners that they speak of, and projects that they name.  They are never run."""

import re
from typing import Final

from testlist.kit.commands import is_command_file
from testlist.languages.jvm.config_settings import is_literal, strings
from testlist.languages.jvm.shape import BuildFact
from testlist.model import Facts

#: runner -> words of its coordinates and switches, as Gradle and Maven files write them
WORDS: Final = {
    "junit5": re.compile(rb"jupiter|useJUnitPlatform|test-junit5|test\.junit5|junit-platform"),
    "junit4": re.compile(
        rb"useJUnit\(\)|test-junit\b(?!5)|test\.junit\b(?!5)|junit:junit|junit-vintage|<artifactId>junit</"
    ),
    "testng": re.compile(rb"useTestNG|test-testng|test\.testng|org\.testng|<artifactId>testng</"),
}
POM: Final = "pom.xml"
BUILDS: Final = frozenset({"build.gradle", "build.gradle.kts"})
SETTINGS: Final = frozenset({"settings.gradle", "settings.gradle.kts"})
MODULE: Final = re.compile(r"<(?:module|subproject)>([^<]++)</")
#: projects of one file that are kept
MOST: Final = 5_000


def extract(source: bytes, language: str) -> Facts:
    """Read one file: {"data": a BuildFact}."""
    return {"data": _settings(source) if language == "gradle-settings" else _build(source)}


def _settings(source: bytes) -> BuildFact:
    text = source.decode(errors="replace")
    found = sorted({one.removeprefix("$rootDir/").replace(":", "/") for one in strings(text)})
    return {"runners": [], "projects": found[:MOST], "whole": is_literal(text) and len(found) <= MOST}


def _build(source: bytes) -> BuildFact:
    runners = [runner for runner, words in WORDS.items() if words.search(source)]
    named = _modules(source.decode(errors="replace")) if b"<project" in source else []
    whole = len(named) <= MOST and not any("${" in one for one in named)
    return {"runners": runners, "projects": named[:MOST], "whole": whole}


def _modules(text: str) -> list[str]:
    """Modules of a pom.xml, those of profiles as well."""
    first, *rest = text.split("<!--")
    bare = first + "".join(part.partition("-->")[2] for part in rest)
    return sorted({one.strip() for one in MODULE.findall(bare)})


def config_language(path: str) -> str | None:
    """Format of a build file, or of one with commands; None for any other file."""
    name = path.rpartition("/")[2]
    if name in SETTINGS:
        return "gradle-settings"
    if name == POM or name in BUILDS:
        return "jvm-build"
    return "commands" if is_command_file(path) else None
