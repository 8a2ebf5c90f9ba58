"""What the rows of a C# file depend on: the types of all files, and the members of those that its own are built on."""

from collections.abc import Callable, Iterable

from testlist.languages.csharp.resolve import Resolver, mentioned
from testlist.languages.csharp.resolve_types import Types
from testlist.languages.csharp.shape import shape
from testlist.model import Facts
from testlist.project import Project


def leads(facts: Facts) -> object:
    """The names of its types and of what these mention, and whether a type may have parts elsewhere."""
    own = shape(facts)
    types = [(one["name"], "partial" in one["mods"]) for one in own.get("types", ())]
    return types, set(mentioned(own))


def outline(facts: Facts) -> object:
    """Its types without methods and attributes, what their bases' names mean, and what it says of its project."""
    own = shape(facts)
    types = [
        (one["ns"], one["outer"], one["name"], one["arity"], one["mods"], one["bases"]) for one in own.get("types", ())
    ]
    named = (
        (own.get("usings", []), own.get("aliases", {})) if any(one["bases"] for one in own.get("types", ())) else None
    )
    return types, named, own.get("globals", []), own.get("internals", False)


def links(project: Project) -> Callable[[str, Facts], Iterable[str]]:
    """Files of bases, and of the other parts of partial types."""
    types = Types.of(project.facts, project.once(Resolver.of).projects)
    found: dict[str, set[str]] = {}
    for one in types.all():
        for path, _ in one.parts:  # all have a link to the first part, and that to all: there may be thousands
            found.setdefault(path, set()).add(one.path)
            found.setdefault(one.path, set()).add(path)
        found[one.path].update(base.path for base in types.bases(one))
    return lambda path, _facts: found.get(path, set()) - {path}
