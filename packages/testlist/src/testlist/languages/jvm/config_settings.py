"""Gradle's settings as text: what they may name, and whether they name projects in no other way than by name."""

import re
from collections.abc import Iterator
from typing import Final

#: comments, strings, braces and runs of anything else; what is not closed ends with the text or its line
PIECES: Final = re.compile(
    r"""//[^\n]*+|/\*(?s:.*?)(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|[{}]|[^"'/{}]++|/"""
)
#: words that begin a statement of settings which only name projects
PLAIN: Final = frozenset(
    {"pluginManagement", "plugins", "dependencyResolutionManagement", "buildscript", "buildCache", "rootProject",
     "enableFeaturePreview", "include", "includeBuild", "gradleEnterprise", "develocity", "import"}
)  # fmt: skip
BEGINNING: Final = re.compile(r"(?m)^[ \t]*([A-Za-z_]\w*)")
#: an `include` of something else than strings, a list that may be gone through, a project that is moved elsewhere
COMPUTED: Final = re.compile(
    r"\binclude(?:Build)?\b[ \t(]*[^\s(\"][^\n]*|\binclude(?:Build)?\b[^\n]*\w|[=,][ \t]*\[|^\s*\[|\bchildren\b"
)
#: plugins that are known to add no projects; any other may
PLUGIN: Final = re.compile(r"""\bid\b[ \t(]*["']([\w.-]++)""")
HARMLESS: Final = ("com.gradle.", "org.gradle.", "org.jetbrains.kotlin.", "com.android.")


def strings(text: str) -> Iterator[str]:
    """Every text in quotes outside of comments."""
    return (piece.strip(piece[0]) for piece in PIECES.findall(text) if piece[0] in "\"'" and len(piece) > 2)


def is_literal(text: str) -> bool:
    """Whether every project of a build stands in its settings by its name."""
    outer, depth = [], 0
    for piece in PIECES.findall(text):
        depth += (piece == "{") - (piece == "}")
        if depth <= 0 and not piece.startswith(("//", "/*")):
            outer.append('""' if piece[0] in "\"'" else piece)
    bare = "".join(outer)
    plain = all(word in PLAIN for word in BEGINNING.findall(bare)) and not COMPUTED.search(bare)
    return plain and all(one.startswith(HARMLESS) for one in PLUGIN.findall(text))
