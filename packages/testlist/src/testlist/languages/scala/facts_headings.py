"""What stands before an operator in Scala: the title of a test, with a subject and a verb before it."""

from typing import Final, NamedTuple

from tree_sitter import Node

from testlist.languages.scala.facts_chains import chain, first
from testlist.languages.scala.facts_titles import Title, title
from testlist.languages.scala.vocabulary import TAGGED, TITLED, VERBS
from testlist.sandbox.syntax import text

#: parentheses and tags that are looked through
STEPS: Final = 60


class Heading(NamedTuple):
    """What stands before an operator: a title, with a subject and a verb before it, or a call.  name: it is a name."""

    said: Title
    subject: str = ""
    verb: str = ""
    word: str = ""
    name: bool = False

    def under(self, subject: Node, verb: str) -> "Heading":
        """This title behind a subject."""
        said = text(subject) if subject.type == "identifier" else title(subject).text
        return self._replace(subject=said, verb=verb)


def headed(node: Node) -> Heading:
    """Read it."""
    for _ in range(STEPS):
        left, operator, _ = parts(node)
        if node.type == "parenthesized_expression" and node.named_child_count == 1:
            node = node.named_children[0]
        elif left is not None and operator == TAGGED:
            node = left
        else:
            break
    left, operator, right = parts(node)
    if left is not None and right is not None and operator in VERBS:
        return Heading(title(right)).under(left, operator)
    if node.type == "call_expression":
        found = chain(node)
        one = first(found.lists)
        if found.name in TITLED and one is not None:
            return Heading(title(one), word=found.name)
    return Heading(title(node), name=node.type == "identifier")


def parts(node: Node) -> tuple[Node | None, str, Node | None]:
    """Both sides of an operator."""
    if node.type != "infix_expression":
        return None, "", None
    operator = node.child_by_field_name("operator")
    return node.child_by_field_name("left"), text(operator), node.child_by_field_name("right")
