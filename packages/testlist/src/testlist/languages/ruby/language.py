"""Ruby, as the engine knows it."""

from typing import Final

from testlist.kit.hinting import HASHES
from testlist.language import Format, Grammar, Hints, Language, Libraries, Syntax

RUBY: Final = Language(
    name="ruby",
    syntaxes=(
        Syntax(
            id="ruby",
            suffixes=("rb",),
            grammar=Grammar("tree-sitter-ruby", "0.23.1", "tree_sitter_ruby", oldest="0.23.0"),
            bodies="ruby-bodies",
        ),
    ),
    formats=(Format("ruby-bodies", "checks", syntax="ruby", on_demand=True),),
    calls="resolve_calls",
    depends="resolve_dependence",
    libraries=Libraries(
        checks=("lib/rspec/expectations.rb", "lib/minitest/assertions.rb", "lib/test/unit/assertions.rb")
    ),
    hints=Hints(
        imports=rb"""^[ \t]*+require(?:_relative)?[ \t(]++["'](?P<import>[^"'\n]++)["']""",
        texts=HASHES,
        noise="RSpec nil pend rspec unless until yield",
        modules="minitest rspec test_helper spec_helper rails_helper",
    ),
)
