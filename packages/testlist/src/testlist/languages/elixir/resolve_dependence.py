"""What the rows of an Elixir file depend on: what all modules use and offer, and the macros that are called.

Tests count where they are written, so those of one file mean nothing to another.
"""

from testlist.kit.dependence import no_links
from testlist.languages.elixir.shape import shape
from testlist.model import Facts


def leads(facts: Facts) -> object:
    """Modules by their names, and what they use: files are found by these names."""
    return [(one["name"], one["uses"], one.get("offers")) for one in shape(facts).get("modules", ())]


def outline(facts: Facts) -> object:
    """All that is looked through for the whole repository, without tests and the places of anything."""
    own = shape(facts)
    tests = own.get("tests", ())
    titled = {one["word"] for one in tests if "word" in one}
    written = {one["macro"] for one in tests if "macro" in one and "open" in one}
    names = [set(own.get("calls", ())), set(own.get("requires", ())), set(own.get("excludes", ()))]
    return leads(facts), names, titled, written


links = no_links
