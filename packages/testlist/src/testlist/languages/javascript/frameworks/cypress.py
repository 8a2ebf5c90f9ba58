"""Cypress: calls of it and specify; files by specPattern of cypress.config, or by the folders of cypress.json."""

from collections.abc import Iterator
from typing import Any, Final

from testlist.languages.javascript.config_files import configs, table
from testlist.languages.javascript.scope import Area, Runner, framework, strings
from testlist.languages.javascript.vocabulary_files import cypress
from testlist.project import Project, folder_of, joined

END_TO_END: Final = ("cypress/e2e/**/*.cy.{js,jsx,ts,tsx}",)
COMPONENT: Final = ("**/*.cy.{js,jsx,ts,tsx}",)
#: the folders that held tests before Cypress 10
INTEGRATION, UNITS = "cypress/integration", "cypress/component"


def areas(project: Project) -> Iterator[Area]:
    """Every configuration, of both kinds of tests."""
    for path, data in configs(project, "cypress.config"):
        yield from configured(folder_of(path), table(data))
    for path in project.named("cypress.json"):
        yield from legacy(folder_of(path), table(project.data(path)))


def configured(folder: str, data: dict[str, Any]) -> Iterator[Area]:
    """End-to-end and component tests; one that is not configured is not run."""
    kinds = {"e2e": END_TO_END, "component": COMPONENT}
    for kind in [kind for kind in kinds if kind in data] or kinds:
        own = table(data.get(kind))
        include = strings(own.get("specPattern") or data.get("specPattern")) or kinds[kind]
        exclude = strings(own.get("excludeSpecPattern") or data.get("excludeSpecPattern"))
        if kind == "component":
            exclude = [*exclude, *(strings(table(data.get("e2e")).get("specPattern")) or END_TO_END)]
        yield Area(folder, under(folder, include), under(folder, exclude))


def legacy(folder: str, data: dict[str, Any]) -> Iterator[Area]:
    """Folders, and patterns below them."""
    tests = strings(data.get("testFiles")) or ["**/*.*"]
    ignored = [f"**/{one}" for one in strings(data.get("ignoreTestFiles"))]
    for key, default in (("integrationFolder", INTEGRATION), ("componentFolder", UNITS)):
        base = joined(folder, next(iter(strings(data.get(key))), default))
        yield Area(folder, under(base, tests), under(folder, ignored))


def under(folder: str, patterns: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    """Patterns from the root of the repository."""
    return tuple(joined(folder, one) for one in patterns)


CYPRESS: Final = framework(
    Runner(
        name="cypress",
        modules=frozenset({"cypress"}),
        packages=frozenset(),
        uses=frozenset({"cy", "Cypress"}),
        priority=150,
        usual=cypress,
        own=cypress,
    ),
    areas,
)
