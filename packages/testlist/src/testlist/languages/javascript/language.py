"""JavaScript and TypeScript, as the engine knows them."""

from typing import Final

from testlist.kit.hinting import SLASHES
from testlist.language import Format, Grammar, Hints, Language, Libraries, Syntax

#: one distribution with two grammars
TYPESCRIPT: Final = ("tree-sitter-typescript", "0.23.2", "tree_sitter_typescript")

JAVASCRIPT: Final = Language(
    name="javascript",
    syntaxes=(
        Syntax(
            id="javascript",
            suffixes=("js", "jsx", "mjs", "cjs"),
            grammar=Grammar("tree-sitter-javascript", "0.25.0", "tree_sitter_javascript", oldest="0.23.1"),
            also=("tsx",),
            configures="javascript-config",
            lenient=True,
            bodies="javascript-bodies",
        ),
        Syntax(
            id="typescript",
            suffixes=("ts", "mts", "cts"),
            grammar=Grammar(*TYPESCRIPT, "language_typescript", oldest="0.23.0"),
            configures="typescript-config",
            lenient=True,
            bodies="typescript-bodies",
        ),
        Syntax(
            id="tsx",
            suffixes=("tsx",),
            grammar=Grammar(*TYPESCRIPT, "language_tsx", oldest="0.23.0"),
            lenient=True,
            bodies="tsx-bodies",
        ),
    ),
    formats=(
        Format("package.json", "config_tables"),
        Format("bunfig", "config_tables"),
        Format("javascript-config", "config", syntax="javascript", lenient=True),
        Format("typescript-config", "config", syntax="typescript", lenient=True),
        *(
            Format(f"{syntax}-bodies", "checks", syntax=syntax, lenient=True, on_demand=True)
            for syntax in ("javascript", "typescript", "tsx")
        ),
    ),
    depends="resolve_dependence",
    libraries=Libraries(
        checks=(
            "packages/expect/src/matchers.ts",
            "packages/expect/src/jest-expect.ts",
            "src/core/matchers/toBe.js",
            "lib/chai/core/assertions.js",
            "lib/internal/assert/assertion_error.js",
        )
    ),
    hints=Hints(
        imports=rb"""(?:\bfrom[ \t]*+|\bimport[ \t]*+\(?|\brequire[ \t]*+\()[ \t]*+["'](?P<import>[^"'\n]++)["']""",
        texts=SLASHES,
        noise="chai cy cypress expectTypeOf jasmine jest mocha playwright sinon specify tap vi vitest xdescribe xit",
        modules="jest vitest mocha chai sinon jasmine cypress playwright node:test bun:test ava tap qunit",
        namespaces=(r"@(?:jest|vitest|playwright|testing-library)/",),
    ),
    follows="config_files",
    calls="resolve_calls",
)
