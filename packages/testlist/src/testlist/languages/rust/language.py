"""Rust, as the engine knows it."""

from typing import Final

from testlist.kit.hinting import DOTTED, SLASHES
from testlist.language import Format, Grammar, Hints, Language, Libraries, Syntax

RUST: Final = Language(
    name="rust",
    syntaxes=(
        Syntax(
            id="rust",
            suffixes=("rs",),
            grammar=Grammar("tree-sitter-rust", "0.24.2", "tree_sitter_rust", oldest="0.24.0"),
            bodies="rust-bodies",
        ),
    ),
    formats=(Format("cargo.toml", "config_manifest"), Format("rust-bodies", "checks", syntax="rust", on_demand=True)),
    calls="resolve_calls",
    libraries=Libraries(checks=("library/core/src/macros/mod.rs",)),
    hints=Hints(
        imports=DOTTED,
        texts=SLASHES,
        noise="Err None Ok Some assert_eq assert_matches assert_ne fn panic println vec",
        modules="proptest rstest std",
        namespaces=("super", "crate$"),
    ),
    binds_late=False,
)
