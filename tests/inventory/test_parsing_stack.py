"""The pinned parsing stack, and the node kinds the rules name."""

from importlib.metadata import version

import pytest

from tasks.inventory import PARSER_VERSION
from tasks.inventory.languages import READERS, SUFFIXES, language_of, reader
from tasks.inventory.syntax import GRAMMARS, named, parse
from tasks.inventory.version import PINS, parser_version

SAMPLES = {
    "python": (
        b"import a\nfrom b import *\n@c(1)\nclass D(E):\n    pass\nif x:\n    y = 1\nelse:\n    z()\n",
        "import_statement import_from_statement decorated_definition if_statement",
    ),
    "javascript": (
        b"import a from 'a'\nfor (const b of c) { d.e('f', () => {}) }",
        "import_statement for_in_statement",
    ),
    "typescript": (
        b"import type A from 'a'\nx('b' as C)\ntype D = E",
        "import_statement expression_statement type_alias_declaration",
    ),
    "tsx": (b"const a = <b>{c}</b>", "lexical_declaration"),
    "go": (
        b'package a\nimport "testing"\nfunc TestA(t *testing.T) {}',
        "package_clause import_declaration function_declaration",
    ),
    "java": (
        b"package a; import static b.C; @D class E<F> extends G<F> { @H void i() {} } record J(int k) {} @interface L {}",
        "package_declaration import_declaration class_declaration record_declaration annotation_type_declaration",
    ),
    "kotlin": (
        b"package a.b\nimport c.d as e\n@F class G : H({ i { } }), J {\n  init { k() }\n}\nobject M\nfun N.o() = p\nval q = r\n",
        "package_header import class_declaration object_declaration function_declaration property_declaration",
    ),
}


def test_what_is_installed_is_what_the_version_says() -> None:
    assert {name: version(name) for name in PINS} == PINS


def test_the_version_changes_with_the_rules_and_with_every_pin() -> None:
    assert parser_version("1.0.0", {"a": "1"}) != parser_version("1.0.0", {"a": "2"})
    assert parser_version("1.0.0", {"a": "1"}) != parser_version("1.0.1", {"a": "1"})
    assert PARSER_VERSION.partition("+")[0].count(".") == 2


@pytest.mark.parametrize("language", GRAMMARS)
def test_a_grammar_names_its_nodes_as_the_rules_do(language: str) -> None:
    source, kinds = SAMPLES[language]
    root = parse(source, language)
    assert not root.has_error
    assert [node.type for node in named(root)] == kinds.split()


@pytest.mark.parametrize("language", READERS)
def test_every_language_has_a_reader(language: str) -> None:
    assert callable(reader(language).extract)


def test_every_suffix_has_a_reader() -> None:
    assert set(SUFFIXES.values()) <= READERS.keys()
    assert [language_of(path) for path in ("a/b.py", "a/.py", "py", "a.d/b", "x.tsx")] == [
        "python",
        None,
        None,
        None,
        "tsx",
    ]
