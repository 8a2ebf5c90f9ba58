"""The calls that declare a test: their titles, places, and what is missing in them."""

from tree_sitter import Node

from testlist.languages.elixir.facts_calls import arguments, block, title
from testlist.languages.elixir.facts_names import Names
from testlist.languages.elixir.shape import TestFact
from testlist.languages.elixir.vocabulary import BODILESS, DECLARES
from testlist.sandbox.syntax import column, end_line, line, text


def is_declaration(node: Node, name: str) -> bool:
    """Whether a call declares a test: one without a body has a text, and nothing more."""
    given = arguments(node)
    if name not in DECLARES or not given:
        return False
    return block(node) is not None or (name in BODILESS and len(given) == 1 and given[0].type == "string")


def declared(node: Node, module: str) -> TestFact:
    """The test that a call declares, by its title."""
    said = title(arguments(node)[0])
    fact: TestFact = {**place(node), "name": said.text, "module": module}
    if not said.known:
        fact["dynamic"] = True
        fact["open"] = True
    if block(node) is None:
        fact["status"] = "todo"
    return fact


def doctest(node: Node, names: Names, module: str) -> TestFact:
    """The examples in the documentation of a module, or in a file: how many there are is not looked up."""
    given = arguments(node)
    name = ""
    if given:
        said = title(given[0])
        name = said.text if said.known else names.full(text(given[0]), module)
    return {**place(node), "name": name, "module": module, "kind": "example", "dynamic": True}


def place(node: Node) -> TestFact:
    """Where a call stands."""
    return {"name": "", "module": "", "line": line(node), "column": column(node), "end": end_line(node)}
