"""Names that ExUnit, and what is built on it, give to things."""

from typing import Final

CASE: Final = "ExUnit.Case"
TEMPLATE: Final = "ExUnit.CaseTemplate"
#: calls that declare a test: ExUnit's, those of property libraries, Mock and Wallaby
DECLARES: Final = frozenset({"test", "property", "test_with_mock", "test_with_mocks", "feature"})
#: calls that declare one without a body, which fails when it is run
BODILESS: Final = frozenset({"test", "property"})
#: calls that make tests of the examples in documentation
DOCTESTS: Final = frozenset({"doctest", "doctest_file"})
#: what a module runs for any other module that says `use`: as a macro, and in a case template
USING: Final = "__using__"
USING_BLOCK: Final = "using"
#: definitions whose bodies run later
FUNCTIONS: Final = frozenset({"def", "defp", "defmacrop", "defmacro"})
#: calls whose blocks declare no test of the module around them
APART: Final = frozenset(
    {"setup", "setup_all", "on_exit", "defimpl", "defprotocol", "defguard", "defguardp", "defdelegate", "defstruct",
     "import", "require", "assert", "refute"}
)  # fmt: skip
BRANCHES: Final = frozenset({"if", "unless", "case", "cond"})
#: modules of functions that go through a collection
LOOPS: Final = ("Enum.", "Stream.", "Map.", "Keyword.")
#: attributes with tags, by what they are for
TAGS: Final = {"tag": "test", "describetag": "describe", "moduletag": "module"}
SKIP: Final = "skip"
#: calls that set what a run leaves out
SETTINGS: Final = frozenset({"ExUnit.start", "ExUnit.configure"})
REQUIRES: Final = frozenset({"Code.require_file", "Code.load_file", "Code.compile_file"})
#: modules of others that tests use, and that make no test case of a module
HELPERS: Final = frozenset(
    {"ExUnitProperties", "PropCheck", "Bitwise", "GenServer", "Agent", "Supervisor", "Application", "Task",
     "Plug.Test", "Plug.Router", "Plug.Builder", "Mimic", "Wallaby.DSL", "Ecto.Schema", "Patch", "ExMachina"}
)  # fmt: skip
