"""One name, one meaning: no two modules of the service define a public type of the same name."""

import ast
from collections import defaultdict
from collections.abc import Iterator

import pytest

from tests.contract.conftest import ROOT

pytestmark = pytest.mark.rule

SOURCES = sorted(path for part in ("app", "tasks") for path in (ROOT / part).rglob("*.py"))


#: What makes a type when it is called.
MAKERS = {"TypeVar", "ParamSpec", "TypeVarTuple", "NewType", "NamedTuple", "namedtuple", "TypedDict", "StrEnum", "Enum"}


def types(source: str) -> Iterator[str]:
    """Names of classes, and of what is assigned: `Links = dict[str, str]`, `Value = TypeVar("Value")`."""
    for node in ast.parse(source).body:
        match node:
            case ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets, value=value) if _is_type(value):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None and _is_type(value):
                yield name


def _is_type(value: ast.expr) -> bool:
    match value:
        case ast.Subscript() | ast.BinOp() | ast.Name():
            return True
        case ast.Call(func=ast.Name(id=maker) | ast.Attribute(attr=maker)):
            return maker in MAKERS
    return False


def public_types(source: str) -> set[str]:
    """Without those of one capital letter, which are variables of types everywhere: `T`."""
    return {name for name in types(source) if name[0].isupper() and not name.isupper()}


def test_no_type_name_is_defined_twice() -> None:
    found = defaultdict(list)
    for path in SOURCES:
        for name in public_types(path.read_text(encoding="utf-8")):
            found[name].append(path.relative_to(ROOT).as_posix())
    assert len(found) > 300
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


@pytest.mark.parametrize(
    "source",
    [
        "class Wait: ...", "Wait = Literal['a']", "Wait = tuple[int, str]", "Wait = A | B", "Wait: TypeAlias = A",
        "Wait = TypeVar('Wait')", "Wait = typing.TypeVar('Wait', bound=A)", "Wait = NewType('Wait', int)",
        "Wait = NamedTuple('Wait', [])",
    ],
)  # fmt: skip
def test_a_type_is_found(source: str) -> None:
    assert public_types(source) == {"Wait"}
    assert public_types(source.replace("Wait", "_Wait")) == set()
