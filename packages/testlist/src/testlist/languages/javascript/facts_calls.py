"""A call that registers a suite or a test as a fact."""

from tree_sitter import Node

from testlist.languages.javascript.facts_arguments import Arguments
from testlist.languages.javascript.facts_callee import Callee
from testlist.languages.javascript.shape import Call, CallFact
from testlist.sandbox.syntax import column, end_line, line


def described(node: Node, callee: Callee, given: Arguments) -> CallFact:
    """What a call says itself."""
    fact: CallFact = {
        "root": callee.root,
        "mods": list(callee.modifiers),
        "title": given.title,
        "line": line(node),
        "column": column(node),
        "end": end_line(node),
    }
    if given.body:
        fact["body"] = True
    if callee.sub:
        fact["sub"] = True
    if given.form:
        fact["form"] = given.form
    if given.options:
        fact["options"] = given.options
    if given.outer:
        fact["outer"] = list(given.outer)
    if callee.extended:
        fact["own"] = True
    return fact


def depending(call: Call) -> Call:
    """A call that a condition decides on."""
    call["when"] = True
    return call
