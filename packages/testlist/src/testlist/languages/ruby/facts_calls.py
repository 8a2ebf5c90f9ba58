"""What a Ruby call is: a declaration of a group or an example, or a module mixed in."""

from typing import Final

from tree_sitter import Node

from testlist.languages.ruby import facts_literals
from testlist.languages.ruby.vocabulary import EXAMPLES, GROUPS, METHOD_LIKE

#: examples whose names other things have too, and what a title of theirs looks like
SHARED_NAMES: Final = METHOD_LIKE | {"skip", "pending", "focus", "example"}
TITLES: Final = frozenset({"string", "chained_string", "binary", "simple_symbol", "heredoc_beginning"})
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
