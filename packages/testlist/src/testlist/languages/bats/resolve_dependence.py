"""What the rows of a Bats file depend on: its own facts alone."""

from testlist.kit.dependence import no_links
from testlist.model import Facts


def leads(facts: Facts) -> object:  # noqa: ARG001 - the interface has it
    """Nothing: candidates are all that is read."""
    return None


def outline(facts: Facts) -> object:  # noqa: ARG001 - the interface has it
    """Nothing: no file has anything from another."""
    return None


links = no_links
