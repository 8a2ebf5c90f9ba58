"""What the rows of a Swift file depend on: the types of all files, and whether these are skipped."""

from testlist.kit.dependence import no_links
from testlist.languages.swift.shape import shape
from testlist.model import Facts


def leads(facts: Facts) -> object:  # noqa: ARG001 - the interface has it
    """Nothing: candidates are all that is read."""
    return None


def outline(facts: Facts) -> object:
    """Its types, which have no places."""
    return shape(facts).get("types", [])


links = no_links
