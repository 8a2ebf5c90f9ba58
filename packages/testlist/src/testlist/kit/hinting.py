"""Expressions that several languages share: their strings and comments, and imports by dotted names."""

from typing import Final

#: comments as in C, strings in either quotes; an escaped quote outside of them begins none, so that those in a string
#: that is not closed are not tried one after the other
SLASHES: Final = (
    rb"""//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*(?:\*/)?|\\["'\\]|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'"""
)
#: comments behind a hash, strings in either quotes or in three
HASHES: Final = rb'''\#[^\n]*+|"""[^"]*+(?:"(?!"")[^"]*+)*"""|\\["'\\]|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+\''''
#: `import a.b`, `using A.B`, `use a::b`
DOTTED: Final = rb"^[ \t]*+(?:global[ \t]+)?(?:import|using|use)[ \t]+(?:static[ \t]+)?(?P<import>\w[\w.:\\]*+)"
