"""What the rows of a Go file depend on: the suites of all files with their methods, and the calls that run suites."""

from testlist.kit.dependence import no_links
from testlist.languages.go.shape import SuiteFacts, shape
from testlist.model import Facts


def outline(facts: Facts) -> object:
    """All that is said of suites, without functions and the places of anything."""
    said = {key: facts[key] for key in SuiteFacts.__annotations__ if key in facts}
    return said, {(method["type"], method["name"]) for method in shape(facts).get("methods", ())}


#: packages are read that suites are built of
leads = outline
links = no_links
