"""Go, as the engine knows it."""

from typing import Final

from testlist.kit.hinting import SLASHES
from testlist.language import Format, Grammar, Hints, Language, Libraries, Syntax

GO: Final = Language(
    name="go",
    syntaxes=(
        Syntax(
            id="go",
            suffixes=("go",),
            grammar=Grammar("tree-sitter-go", "0.25.0", "tree_sitter_go"),
            bodies="go-bodies",
        ),
    ),
    formats=(Format("go.mod", "config_manifest"), Format("go-bodies", "checks", syntax="go", on_demand=True)),
    calls="resolve_calls",
    depends="resolve_dependence",
    libraries=Libraries(checks=("assert/assertions.go", "src/testing/testing.go")),
    hints=Hints(
        imports=rb"""^(?:import)?[ \t]++(?:[\w.]+[ \t]+)?"(?P<import>[^"\n]++)"[ \t]*+$""",
        texts=SLASHES,
        noise="append fmt func len make panic testify testing",
        leading="defer go",
        modules="testing",
        namespaces=(r"github\.com/(?:stretchr/testify|onsi)",),
    ),
    # of these the go tool leaves out `vendor` alone
    own_folders=frozenset({"dist", "venv", "site-packages", "third_party", "third-party", "thirdparty", "3rdparty"}),
    binds_late=False,
)
