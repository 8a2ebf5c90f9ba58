"""What the rows of a Swift file depend on: the types of all files, and whether these are skipped."""

from testlist.kit.dependence import no_links, nothing
from testlist.languages.swift.shape import shape
from testlist.model import Facts


def outline(facts: Facts) -> object:
    """Its types, which have no places."""
    return shape(facts).get("types", [])


leads = nothing
links = no_links
