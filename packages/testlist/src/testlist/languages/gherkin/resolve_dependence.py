"""What the rows of a feature file depend on: its own facts, and the layout of the repository."""

from testlist.kit.dependence import no_links
from testlist.model import Facts


def leads(facts: Facts) -> object:  # noqa: ARG001 - the interface has it
    """Nothing: candidates are all that is read."""
    return None


def outline(facts: Facts) -> object:  # noqa: ARG001 - the interface has it
    """Nothing: no file has anything from another."""
    return None


links = no_links
