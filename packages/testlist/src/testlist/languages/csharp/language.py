"""C#, as the engine knows it."""

from typing import Final

from testlist.kit.hinting import DOTTED, SLASHES
from testlist.language import Format, Grammar, Hints, Language, Libraries, Syntax

CSHARP: Final = Language(
    name="csharp",
    syntaxes=(
        Syntax(
            id="csharp",
            suffixes=("cs",),
            grammar=Grammar("tree-sitter-c-sharp", "0.23.5", "tree_sitter_c_sharp", oldest="0.23.1"),
            lenient=True,
            bodies="csharp-bodies",
        ),
    ),
    formats=(
        Format("msbuild", "config_msbuild"),
        Format("csharp-bodies", "checks", syntax="csharp", lenient=True, on_demand=True),
    ),
    calls="resolve_calls",
    depends="resolve_dependence",
    libraries=Libraries(
        checks=(
            "NUnitFramework/framework/Assert.cs",
            "TestFramework/Assertions/Assert.cs",
            "Asserts/EqualityAsserts.cs",
            "FluentAssertions/AssertionExtensions.cs",
            "Shouldly/ShouldBeTestExtensions.cs",
        )
    ),
    hints=Hints(
        imports=DOTTED,
        texts=SLASHES,
        noise="Assert Assertions Has Is NUnit Test Testing Throws Xunit Xunit_Abstractions",
        modules="NUnit Xunit",
        namespaces=(
            r"Microsoft\.VisualStudio\.TestTools",
            r"System(?:\.(?:Collections|Linq|Text|Threading)[\w.]*)?$",
        ),
    ),
)
