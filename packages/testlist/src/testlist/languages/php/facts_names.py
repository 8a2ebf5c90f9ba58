"""Names of one PHP file: what its namespace and its `use` lines make of them."""

from dataclasses import dataclass, field

from tree_sitter import Node

from testlist.sandbox.syntax import named, text


@dataclass(slots=True)
class Names:
    """State while a file is read, for both change in the middle of it.  uses: alias in lower case -> full name."""

    namespace: str = ""
    uses: dict[str, str] = field(default_factory=dict)

    def enter(self, node: Node) -> None:
        """Read a namespace definition."""
        self.namespace = text(node.child_by_field_name("name"))

    def learn(self, node: Node) -> None:
        """Read a `use` line, perhaps with an alias or a group, unless it is of functions or constants."""
        prefix = next((text(child) for child in node.named_children if child.type == "namespace_name"), "")
        group = node.child_by_field_name("body")
        for clause in named(group if group is not None else node):
            if clause.type == "namespace_use_clause" and clause.child_by_field_name("type") is None:
                target = text(clause.named_children[0]).strip("\\")
                whole = f"{prefix}\\{target}".strip("\\") if group is not None else target
                alias = text(clause.child_by_field_name("alias")) or target.rpartition("\\")[2]
                self.uses[alias.lower()] = whole

    def full(self, name: str) -> str:
        """Full name, without a leading backslash, of a name as written."""
        if name.startswith("\\"):
            return name[1:]
        head, slash, rest = name.partition("\\")
        if head.lower() == "namespace" and slash:
            return self.declared(rest)
        known = self.uses.get(head.lower())
        return self.declared(name) if known is None else f"{known}{slash}{rest}"

    def declared(self, name: str) -> str:
        """Full name of what the file itself declares."""
        return f"{self.namespace}\\{name}" if self.namespace else name
