"""What a Ruby call is: a declaration of a group or an example, or a module mixed in."""

from typing import Final

from tree_sitter import Node

from testlist.languages.ruby import facts_literals
from testlist.languages.ruby.shape import CallItem
from testlist.languages.ruby.vocabulary import EXAMPLES, GROUPS, METHOD_LIKE, SHARED
from testlist.sandbox.syntax import column, end_line, line

#: examples whose names other things have too, and what a title of theirs looks like
SHARED_NAMES: Final = METHOD_LIKE | {"skip", "pending", "focus", "example"}
TITLES: Final = frozenset({"string", "chained_string", "binary", "simple_symbol", "heredoc_beginning"})
VISIBILITY: Final = frozenset({"private", "protected", "public"})
MIXING: Final = frozenset({"include", "prepend", "extend"})


def mixed_in(method: str, given: list[Node], *, plain: bool) -> list[str]:
    """Modules that a call mixes in.  plain: it speaks of the class around it, or of a variable."""
    if method in MIXING and plain:
        return list(filter(None, map(facts_literals.constant, given)))
    name = facts_literals.passed(given) if method in ("class_eval", "class_exec") else None
    return [name] if name else []


def is_declaration(method: str, given: list[Node], block: Node | None) -> bool:
    """Whether a call declares a group or an example, and is no call of the same name for something else."""
    if method in GROUPS:
        return block is not None or any(one.type == "block_argument" for one in given)
    if method not in EXAMPLES:
        return False
    if method not in SHARED_NAMES:
        return bool(given) or block is not None
    titled = bool(given) and given[0].type in TITLES
    if method in ("example", "pending", "focus"):
        return titled or block is not None
    return titled or (method == "should" and bool(given))


def declared(node: Node, method: str, given: list[Node], block: Node | None) -> CallItem:
    """A group or an example, without what stands in it."""
    item: CallItem = {
        "k": "call",
        "m": method,
        # the text of a group is no name for it
        "title": facts_literals.titles(given, method)
        or (method if method in GROUPS else facts_literals.anonymous(block)),
        "line": line(node),
        "column": column(node),
        "end": end_line(node),
    }
    if marks := facts_literals.marks(given):
        item["marks"] = [one for one in marks if one != "when"]
    if "when" in marks:
        item["when"] = True
    if block is not None or any(one.type == "block_argument" for one in given):
        item["block"] = True
    if block is None and "block" in item:
        item["handed"] = True  # its body is written elsewhere
    if method in SHARED and sum(one.type != "block_argument" for one in given) > 1:
        item["tagged"] = True  # included by metadata, without a word
    return item
