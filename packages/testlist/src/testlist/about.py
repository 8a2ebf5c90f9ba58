"""What the package says about itself: its versions, and the schema of what it prints."""

from importlib.metadata import version
from pathlib import Path
from typing import Final

from testlist.version import PARSER_VERSION, STACK, untested

_SCHEMA: Final = Path(__file__).parent / "reports" / "inventory.schema.json"


def version_line() -> str:
    """The version of the package, and of the rules and grammars, which decides on the rows."""
    others = "".join(f", not tested with {one}" for one in untested(STACK))
    return f"testlist {version('testlist')}, rules {PARSER_VERSION}{others}\n"


def schema() -> str:
    """The JSON Schema of a document, whose `$defs/test` is a line of JSON lines."""
    return _SCHEMA.read_text()
