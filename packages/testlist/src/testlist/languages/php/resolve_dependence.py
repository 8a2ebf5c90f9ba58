"""What the rows of a PHP file depend on: the classes of all files, and the methods of what its own are built on."""

from collections.abc import Callable, Iterable, Iterator

from testlist.languages.php.resolve import Resolver
from testlist.languages.php.shape import shape
from testlist.model import Facts
from testlist.project import Project


def outline(facts: Facts) -> object:
    """Its classes and traits, with what they are built on."""
    return [(one["full"], one["bases"], one["traits"]) for one in shape(facts).get("classes", ())]


#: files are found by the names of classes and traits
leads = outline


def links(project: Project) -> Callable[[str, Facts], Iterable[str]]:
    """Files of parents and traits."""
    named = project.once(Resolver.of).classes.learn(project.facts).named

    def of(path: str, facts: Facts) -> Iterator[str]:
        for one in shape(facts).get("classes", ()):
            for name in (*one["bases"], *one["traits"]):
                found = named.get(name.lower())
                if found is not None and found.path != path:
                    yield found.path

    return of
