"""Names that declare groups and examples in Ruby."""

from typing import Final

#: groups of examples; those with x and f are skipped and focused
DESCRIBES: Final = frozenset({"describe", "context", "feature", "example_group"})
SHARED: Final = frozenset({"shared_examples", "shared_examples_for", "shared_context", "shared_example_group"})
#: groups that use a shared one, and may add examples in a block
BEHAVES: Final = frozenset({"it_behaves_like", "it_should_behave_like", "include_examples", "include_context"})
#: plain examples; those with x and f are skipped and focused
PLAIN: Final = frozenset({"it", "specify", "example", "scenario", "its"})
PREFIXED: Final = {"x": "skipped", "f": "focused"}

GROUPS: Final = DESCRIBES | SHARED | BEHAVES | {f"{letter}{name}" for letter in PREFIXED for name in DESCRIBES}
RSPEC_EXAMPLES: Final = (
    PLAIN | {f"{letter}{name}" for letter in PREFIXED for name in PLAIN} | {"focus", "skip", "pending"}
)
#: Rails' and shoulda's ways to declare a Minitest test
METHOD_LIKE: Final = frozenset({"test", "should", "should_eventually"})
EXAMPLES: Final = RSPEC_EXAMPLES | METHOD_LIKE

#: calls whose block runs inside examples, or prepares them
BLOCKS_OF_EXAMPLES: Final = frozenset(
    {"let", "let!", "subject", "subject!", "before", "after", "around", "setup", "teardown", "before_all", "after_all",
     "background", "given", "given!", "prepend_before", "append_before", "prepend_after", "append_after", "lambda",
     "proc", "expect", "let_it_be", "let_it_be_with_reload", "let_it_be_with_refind", "def_delegators", "catch"}
)  # fmt: skip
#: methods whose block runs once an element
LOOPS: Final = frozenset(
    {"each", "map", "each_with_index", "each_pair", "each_key", "each_value", "times", "upto", "downto", "step",
     "each_slice", "each_cons", "each_with_object", "each_entry", "flat_map", "cycle", "loop", "product",
     "combination", "permutation", "select", "reject", "inject", "zip", "with_index", "each_line", "each_char"}
)  # fmt: skip
#: calls without receiver whose block runs once, where it stands
TRANSPARENT: Final = frozenset(
    {"included", "class_eval", "module_eval", "class_exec", "module_exec", "instance_eval", "tap", "with_options",
     "begin", "concern", "aggregate_failures", "silence_warnings"}
)  # fmt: skip
