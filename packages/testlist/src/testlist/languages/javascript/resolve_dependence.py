"""What the rows of a JavaScript file depend on: the files that it imports, and those that hand their names on."""

from collections.abc import Callable, Iterable, Iterator

from testlist.languages.javascript.resolve import Resolver
from testlist.languages.javascript.shape import JavaScriptFacts, shape
from testlist.languages.javascript.vocabulary_modules import is_own
from testlist.model import Facts
from testlist.project import Project


def leads(facts: Facts) -> object:
    """Its imports."""
    return shape(facts).get("imports", ())


def outline(facts: Facts) -> object:  # noqa: ARG001 - the interface has it
    """Nothing: no file has anything from another that it does not import."""
    return None


def links(project: Project) -> Callable[[str, Facts], Iterable[str]]:
    """Files that its imports, borrowed names and exports mean."""
    resolver = project.once(Resolver.of)

    def of(path: str, facts: Facts) -> Iterator[str]:
        for module in set(_modules(shape(facts))):
            target = resolver.resolved(path, module)
            if target is not None and target != path:
                yield target

    return of


def _modules(facts: JavaScriptFacts) -> Iterator[str]:
    yield from filter(is_own, facts.get("imports", ()))
    yield from (module for module, _ in facts.get("borrowed", {}).values())
    for handed in facts.get("exports", {}).values():
        if isinstance(handed, str):
            yield handed
        elif isinstance(handed, dict):
            yield handed["from"]
