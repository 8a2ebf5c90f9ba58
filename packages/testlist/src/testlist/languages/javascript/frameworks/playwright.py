"""Playwright: test(title, body) and its aliases; files by testDir and testMatch of playwright.config."""

from collections.abc import Iterator
from typing import Any, Final

from testlist.kit import globs
from testlist.languages.javascript.collect import Dialect
from testlist.languages.javascript.config_files import configs, table
from testlist.languages.javascript.scope import Area, Runner, framework, outer, strings
from testlist.project import Project, folder_of, joined

MATCH: Final = ("**/*.@(spec|test).?(c|m)[jt]s?(x)",)


def areas(project: Project) -> Iterator[Area]:
    """Every configuration, or each of its projects, which inherit what they do not say."""
    for path, data in configs(project, "playwright.config"):
        whole = table(data)
        inner = whole.get("projects")
        for entry in inner if isinstance(inner, list) and inner else [{}]:
            yield area(folder_of(path), whole | table(entry))


def area(folder: str, data: dict[str, Any]) -> Area:
    """One project.  Patterns see paths from anywhere above the test folder."""
    base = next((joined(folder, one) for one in strings(data.get("testDir"))), folder)
    wanted, unwanted = Patterns(data.get("testMatch")), Patterns(data.get("testIgnore"))

    def also(path: str) -> bool:
        return (not wanted or wanted.match(path)) and not unwanted.match(path)

    return Area(outer(folder, base), tuple(joined(base, one) for one in (("**/*",) if wanted else MATCH)), (), also)


class Patterns:
    """testMatch or testIgnore: one or several globs or regular expressions."""

    def __init__(self, value: Any) -> None:
        values = value if isinstance(value, list) else [value]
        self.globs = [one if one.startswith("**/") else f"**/{one.removeprefix('./')}" for one in strings(values)]
        found = (globs.regex(one["regex"]) for one in values if isinstance(one, dict) and "regex" in one)
        self.regexes = [one for one in found if one is not None]

    def __bool__(self) -> bool:
        return bool(self.globs or self.regexes)

    def match(self, path: str) -> bool:
        """Whether one of them fits."""
        seen = f"/{path}"[: globs.LONGEST]
        return any(globs.match(path, one) for one in self.globs) or any(one.search(seen) for one in self.regexes)


PLAYWRIGHT: Final = framework(
    Runner(
        name="playwright",
        modules=frozenset({"@playwright/test"}),
        packages=frozenset({"@playwright/test"}),
        priority=150,
        bare=False,
        dialect=Dialect(annotates=True),
    ),
    areas,
)
