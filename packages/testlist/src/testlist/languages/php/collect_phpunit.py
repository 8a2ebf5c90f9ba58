"""Rows of PHPUnit: what several classes share is one definition."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from testlist.kit.fold import folded
from testlist.kit.rows import row
from testlist.languages.php.resolve import Resolver
from testlist.languages.php.resolve_classes import Found, Method, loaded
from testlist.languages.php.shape import shape
from testlist.model import FactsByPath, Test


class Hit(NamedTuple):
    """A test of one class.  depends: whether a requirement decides if it runs there."""

    method: Method
    status: str
    depends: bool

    @property
    def place(self) -> tuple[str, int, int]:
        """The definition's identity."""
        return self.method.path, self.method.item["line"], self.method.item["column"]


def collect(resolver: Resolver, owned: Sequence[str], facts: FactsByPath) -> Iterator[Test]:
    """Rows of files."""
    return map(folded_row, folded(hits_of(resolver, owned, facts), lambda hit: hit.place))


def hits_of(resolver: Resolver, owned: Sequence[str], facts: FactsByPath) -> Iterator[Hit]:
    """Test methods of every class that ends in a case."""
    classes = resolver.classes.learn(facts)
    for path in owned:
        resolver.project.beat()
        for item in loaded(path, shape(facts[path]).get("classes", [])):
            order = classes.order(Found(path, item))
            off = next((one.item["off"] for one in order if "off" in one.item), "active")
            depends = any("when" in one.item for one in order)
            for method in classes.methods(order) if classes.is_case(order) else ():
                yield Hit(method, method.item.get("first", off), depends or "when" in method.item)


def folded_row(hits: list[Hit]) -> Test:
    """One definition; it is off only if it is in every class that has it."""
    method = hits[0].method
    status = "active" if any(hit.status == "active" for hit in hits) else hits[0].status
    return row(
        "phpunit",
        method.path,
        (method.owner,),
        method.item["name"],
        method.item,
        status=status,
        dynamic="data" in method.item,
        cases=method.item.get("cases"),
        depends=all(hit.depends for hit in hits if hit.status == status),
    )
