"""What the attributes of a function make of it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from testlist.languages.rust.facts_tokens import name_of
from testlist.languages.rust.shape import Attribute, Tokens

#: last words of attributes that make a test, beside `test` itself
TESTS: Final = frozenset(
    {"rstest", "test_case", "test_matrix", "quickcheck", "apply", "gtest", "proptest", "parameterized"}
)
#: attributes that end in `_test` and yet make none that cargo test runs here
ELSEWHERE: Final = frozenset({"wasm_bindgen_test", "cfg_test", "template"})
#: attributes that list one case each
CASES: Final = frozenset({"case", "test_case"})
TABLES: Final = frozenset({"apply", "test_matrix", "values", "files", "quickcheck", "proptest", "parameterized"})


@dataclass(frozen=True, slots=True)
class Meaning:
    """A test or a benchmark.  cases: what the source lists, None without a list.  depends: on a condition."""

    kind: str = "test"
    status: str = "active"
    dynamic: bool = False
    cases: int | None = None
    depends: bool = False


def meaning(attributes: Sequence[Attribute], own: Collection[str] = ()) -> Meaning | None:
    """What a function with these attributes is; None for no test.  own: test attributes the repository defines."""
    words: list[str] = []
    paths: list[str] = []
    for path, given in attributes:
        words.append(path.rpartition("::")[2])
        paths.append(path)
        if path == "cfg_attr":  # what it would add counts, except a status
            words += [word for word in conditional(given) if word != "ignore"]
    if "template" in words:
        return None
    if "bench" in words:
        return Meaning(kind="benchmark", status=_status(words), depends=depends(attributes))
    if not any(is_test(word, own) for word in words):
        return None
    cases = sum(path.split("::")[0] in CASES or path.rpartition("::")[2] == "test_case" for path in paths)
    dynamic = bool(cases or TABLES & set(words))
    tables = bool(TABLES & set(words))
    listed = cases if cases and not tables else None
    return Meaning(status=_status(words), dynamic=dynamic, cases=listed, depends=depends(attributes))


def _status(words: Sequence[str]) -> str:
    return "skipped" if "ignore" in words else "active"


def depends(attributes: Sequence[Attribute]) -> bool:
    """Whether `#[cfg(...)]`, or an `ignore` inside of `cfg_attr`, lets a condition decide."""
    return any(
        not is_given(given) if path == "cfg" else path == "cfg_attr" and "ignore" in conditional(given)
        for path, given in attributes
    )


def is_given(condition: Tokens) -> bool:
    """Whether a condition of `cfg` holds in every run of the tests."""
    group = condition[0][1:] if condition and isinstance(condition[0], list) else []
    words = [name_of(piece) for piece in group if isinstance(piece, str)]
    if words[:1] == ["any"]:
        inner = next((piece[1:] for piece in group if isinstance(piece, list)), [])
        return "test" in [name_of(piece) for piece in inner if isinstance(piece, str)]
    if words == ["all"]:
        inner = next((piece[1:] for piece in group if isinstance(piece, list)), [])
        return [name_of(piece) for piece in inner if isinstance(piece, str) and piece != ","] == ["test"]
    return words == ["test"]


def is_test(word: str, own: Collection[str]) -> bool:
    """Whether the last word of an attribute's path makes a test."""
    if word == "test" or word in TESTS or word in own:
        return True
    return word.endswith("_test") and word not in ELSEWHERE


def conditional(given: Tokens) -> list[str]:
    """Last words of the attributes inside `cfg_attr(condition, a, b::c(d))`."""
    group = given[0][1:] if given and isinstance(given[0], list) else []
    words: list[str] = []
    parts = 0
    for piece in group:
        if piece == ",":
            parts += 1
            words.append("")
        elif parts and isinstance(piece, str) and piece != "::":
            words[-1] = name_of(piece) if not words[-1].endswith("=") else words[-1]
    return [word for word in words if word]
