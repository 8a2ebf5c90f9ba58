"""PHP, as the engine knows it."""

from typing import Final

from testlist.kit.hinting import DOTTED, SLASHES
from testlist.language import Format, Grammar, Hints, Language, Libraries, Syntax

PHP: Final = Language(
    name="php",
    syntaxes=(
        Syntax(
            id="php",
            suffixes=("php",),
            grammar=Grammar("tree-sitter-php", "0.25.1", "tree_sitter_php", "language_php", oldest="0.24.1"),
            lenient=True,
            bodies="php-bodies",
        ),
    ),
    formats=(
        Format("phpunit.xml", "config_xml"),
        Format("php-bodies", "checks", syntax="php", lenient=True, on_demand=True),
    ),
    calls="resolve_calls",
    depends="resolve_dependence",
    libraries=Libraries(checks=("src/Framework/Assert.php", "src/Mixins/Expectation.php")),
    hints=Hints(
        imports=DOTTED,
        texts=SLASHES,
        noise="PHPUnit Pest declare die elseif empty exit isset fn function parent print unset use",
        modules="PHPUnit Pest",
    ),
)
