"""Deno: calls of Deno.test, and of describe and it of its standard library; files by name and `test` of deno.json."""

from collections.abc import Iterator
from typing import Any, Final

from testlist.languages.javascript.collect import Dialect
from testlist.languages.javascript.config_files import configs, table
from testlist.languages.javascript.scope import Area, Runner, framework, strings
from testlist.languages.javascript.vocabulary_files import deno
from testlist.project import Project, folder_of, joined

SUFFIX: Final = "{ts,tsx,mts,js,mjs,jsx}"
MATCH: Final = (f"**/{{,*_,*.}}test.{SUFFIX}", f"**/{{,*_,*.}}bench.{SUFFIX}", f"**/__tests__/**/*.{SUFFIX}")


def areas(project: Project) -> Iterator[Area]:
    """Every configuration that includes or leaves out files."""
    for path, data in configs(project, "deno.json"):
        whole = table(data)
        own = table(whole.get("test"))
        chosen = strings(own.get("include")) or strings(table(own.get("files")).get("include"))
        left = strings(own.get("exclude")) + strings(table(own.get("files")).get("exclude"))
        left += strings(whole.get("exclude"))
        if chosen or left:
            yield area(folder_of(path), chosen, left)


def area(folder: str, chosen: list[Any], left: list[Any]) -> Area:
    """Files that are named count whatever they are called; folders stand for the files of the right name in them."""
    include = [
        joined(folder, pattern) for one in chosen or [""] for pattern in (one, *(f"{one}/{name}" for name in MATCH))
    ]
    exclude = [joined(folder, pattern) for one in left for pattern in (one, f"{one}/**/*")]
    return Area(folder, tuple(include), tuple(exclude))


DENO: Final = framework(
    Runner(
        name="deno",
        modules=frozenset({"testing/bdd", "Deno"}),
        packages=frozenset({"deno"}),
        uses=frozenset({"Deno"}),
        bare=False,
        usual=deno,
        dialect=Dialect(forms=frozenset({"function", "object"}), subtests=True, benches=True),
    ),
    areas,
)
