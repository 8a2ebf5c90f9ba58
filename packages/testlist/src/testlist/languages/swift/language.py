"""Swift, as the engine knows it."""

from typing import Final

from testlist.kit.hinting import DOTTED, SLASHES
from testlist.language import Format, Grammar, Hints, Language, Libraries, Syntax

SWIFT: Final = Language(
    name="swift",
    syntaxes=(
        Syntax(
            id="swift",
            suffixes=("swift",),
            grammar=Grammar("tree-sitter-swift", "0.7.4", "tree_sitter_swift"),
            bodies="swift-bodies",
        ),
    ),
    formats=(Format("swift-bodies", "checks", syntax="swift", on_demand=True),),
    calls="resolve_calls",
    depends="resolve_dependence",
    libraries=Libraries(
        checks=(
            "Sources/Testing/Expectations/Expectation.swift",
            "Sources/Nimble/Expectation.swift",
            "Sources/XCTest/Public/XCTAssert.swift",
        )
    ),
    hints=Hints(
        imports=DOTTED,
        texts=SLASHES,
        noise="Testing XCTAssert func",
        modules="Testing XCTest",
    ),
)
