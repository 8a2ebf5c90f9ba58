"""RSpec: examples of groups, in files named `*_spec.rb` and in what lies beside them for sharing.

An example in a shared group, or in a method that declares examples, counts once, where it is written.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from testlist.interface import Claim, Signal
from testlist.kit.rows import Placed, row
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages import written_in
from testlist.languages.ruby.language import RUBY
from testlist.languages.ruby.resolve import Resolver, has_groups, is_template
from testlist.languages.ruby.vocabulary import DESCRIBES, GROUPS, PREFIXED, RSPEC_EXAMPLES, SHARED
from testlist.model import Facts, FactsByPath, Test
from testlist.project import Project

#: folders of specs and of what specs share
FOLDERS: Final = frozenset({"spec", "specs"})
ON: Final = frozenset({"", "RSpec", "::RSpec", "self"})
#: what metadata and the names of examples say of the status, strongest first
SAID: Final = (("skip", "skipped"), ("pending", "xfail"), ("focus", "focused"))
Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Around:
    """What surrounds an example.  declares: examples may stand here."""

    suites: tuple[str, ...] = ()
    status: str = "active"
    dynamic: bool = False
    declares: bool = False
    shared_only: bool = False
    in_module: bool = False
    in_method: bool = False
    depends: bool = False  # a condition decides
    used: frozenset[str] = frozenset()  # names of shared groups that are included; an empty one stands for any
    near: frozenset[str] = frozenset()  # those that are included where a group of this file is known


@dataclass(slots=True)
class RSpecScope(DefaultScope):
    """RSpec in one repository."""

    resolver: Resolver

    def wants(self, path: str) -> bool:
        """`*_spec.rb`, and every Ruby file below a folder of specs, for groups that are shared."""
        *folders, name = path.split("/")
        if not name.endswith(".rb") or is_template(path):
            return False
        return name.endswith("_spec.rb") or "shared_" in path or not FOLDERS.isdisjoint(folders)

    def needs(self, facts: FactsByPath) -> set[str]:
        """The helpers it asks about lie beside the specs; base classes are the other framework's."""
        return self.resolver.needs(facts)

    def claim(self, path: str, facts: Facts) -> Claim | None:
        """A file with groups that does not load another framework."""
        said = self.resolver.speaks(path, facts)
        if said == "minitest" or not has_groups(facts, DESCRIBES | SHARED if self.runs(path) else SHARED):
            return None
        return Claim(Signal.NAME, priority=200)

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Examples; of files that are only loaded by others, those in shared groups."""
        used = included(written_in("ruby", facts))
        carried = frozenset(
            name for one in written_in("ruby", facts) for names in one.get("within", {}).values() for name in names
        )
        for path in owned:
            items = facts[path].get("items", [])
            runs = self.runs(path)
            if runs or not declares(items):
                near = (carried | set(facts[path].get("shares", ()))) & used
                yield from rows(path, items, Around(shared_only=not runs, used=used, near=near))

    def runs(self, path: str) -> bool:
        """Whether its groups are run: by the runner itself, or because a file that is read requires it."""
        return self.resolver.runs().specs(path) or (not path.endswith("_spec.rb") and self.resolver.is_required(path))


def included(facts: Iterable[Facts]) -> frozenset[str]:
    """Names of shared groups that are used, directly or in another one that is."""
    used: set[str] = set()
    inner: dict[str, set[str]] = {}
    for one in facts:
        used.update(one.get("shares", ()))
        for title, names in one.get("within", {}).items():
            inner.setdefault(title, set()).update(names)
    todo = list(inner) if "" in used else list(used)
    while todo:
        found = inner.pop(todo.pop(), set()) - used
        used |= found
        todo += inner if "" in found else found
    return frozenset(used)


def declares(items: Sequence[Item]) -> bool:
    """Whether groups stand in a file that are not shared: it is a spec, not something for specs to load."""
    return any(
        item["k"] == "call" and item["m"] in DESCRIBES and item.get("on", "") in ON and item["body"] for item in items
    )


def rows(path: str, items: Sequence[Item], around: Around) -> Iterator[Test]:
    """Examples among items."""
    for item in items:
        inner = replace(around, dynamic=around.dynamic or "loop" in item, depends=around.depends or "when" in item)
        if item["k"] == "module":
            yield from rows(path, item["body"], replace(inner, in_module=True))
        elif item["k"] == "class":
            yield from rows(path, item["body"], replace(inner, declares=False, in_module=False))
        elif item["k"] == "macro" and (item["own"] or around.in_module):
            yield from rows(
                path, item["body"], replace(inner, declares=True, dynamic=True, shared_only=False, in_method=True)
            )
        elif item["k"] == "call" and item.get("on", "") in ON:
            yield from called(path, item, inner)


def called(path: str, item: Item, around: Around) -> Iterator[Test]:
    """Examples of a group, or one example."""
    method = item["m"]
    if method in GROUPS:
        # one in another group is known there alone: what other files include by a computed name is none of it
        used = around.near if around.suites else around.used
        unused = method in SHARED and "tagged" not in item and used.isdisjoint(("", item["title"]))
        if unused or (around.shared_only and method not in SHARED):
            return
        inner = replace(around, suites=(*around.suites, item["title"]), status=status_of(item) or around.status)
        yield from rows(path, item["body"], replace(inner, declares=True, shared_only=False, in_module=False))
    elif method in RSPEC_EXAMPLES and around.declares and not (around.in_method and is_word(item)):
        status = status_of(item) or around.status
        if "block" not in item and status_of(item) != "skipped":  # nothing that could fail or be in focus
            status = "todo"
        yield row(
            "rspec",
            path,
            around.suites,
            item["title"],
            cast(Placed, item),
            status=status,
            dynamic=around.dynamic,
            depends=around.depends,
        )


def is_word(item: Item) -> bool:
    """Whether `skip "reason"` or `pending "reason"` speaks to the example that is running."""
    return item["m"] in ("skip", "pending") and "block" not in item


def status_of(item: Item) -> str | None:
    """What a group or an example says of itself; None for nothing."""
    method = item["m"]
    said = {method, *item.get("marks", [])}
    found = next((status for word, status in SAID if word in said), None)
    if found is None and method[0] in PREFIXED and (method[1:] in DESCRIBES or method in RSPEC_EXAMPLES - {"feature"}):
        return PREFIXED[method[0]] if method[1:] in DESCRIBES | RSPEC_EXAMPLES else None
    return found


def config_language(path: str) -> str | None:
    """`.rspec`: options as on its command line."""
    return "words" if path.rpartition("/")[2] == ".rspec" else None


def scope(project: Project) -> RSpecScope:
    """What both Ruby frameworks know."""
    return RSpecScope(project.once(Resolver.of))


RSPEC: Final = DeclaredFramework("rspec", RUBY.ids, scope, configures=config_language)
