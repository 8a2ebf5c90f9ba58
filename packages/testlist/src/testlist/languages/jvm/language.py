"""Java, Kotlin and Groovy, as the engine knows them.  Groovy is read without a grammar."""

from typing import Final

from testlist.kit.hinting import DOTTED, SLASHES
from testlist.language import Format, Grammar, Hints, Language, Libraries, Syntax

JVM: Final = Language(
    name="jvm",
    syntaxes=(
        Syntax(
            id="java",
            suffixes=("java",),
            reader="facts_java",
            grammar=Grammar("tree-sitter-java", "0.23.5", "tree_sitter_java"),
            lenient=True,
            bodies="java-bodies",
        ),
        Syntax(
            id="kotlin",
            suffixes=("kt",),
            reader="facts_kotlin",
            grammar=Grammar("tree-sitter-kotlin", "1.1.0", "tree_sitter_kotlin"),
            lenient=True,
            bodies="kotlin-bodies",
        ),
        Syntax(id="groovy", suffixes=("groovy",), reader="facts_groovy", lenient=True),
    ),
    formats=(
        Format("jvm-build", "config_build_files"),
        Format("gradle-settings", "config_build_files"),
        *(
            Format(f"{syntax}-bodies", "checks", syntax=syntax, lenient=True, on_demand=True)
            for syntax in ("java", "kotlin")
        ),
    ),
    calls="resolve_calls",
    depends="resolve_dependence",
    libraries=Libraries(
        checks=(
            "org/junit/Assert.java",
            "org/junit/jupiter/api/Assertions.java",
            "org/assertj/core/api/Assertions.java",
            "org/testng/Assert.java",
            "kotlin/test/Assertions.kt",
            "io/kotest/matchers/should.kt",
        )
    ),
    hints=Hints(
        imports=DOTTED,
        texts=SLASHES,
        noise="Mockito assertThat junit kotlin listOf mapOf org_junit println setOf toString",
        namespaces=(
            r"org\.(?:junit|testng|assertj|mockito|hamcrest|spockframework)",
            r"io\.kotest",
            r"kotlin\.test",
            r"kotlin\.(?![a-z]+x)",
            r"java\.(?:util|lang|io)\b",
            r"spock\.",
        ),
    ),
)
