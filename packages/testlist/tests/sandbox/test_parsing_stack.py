"""The parsing stack that is installed, and the node kinds the rules name."""

import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from testlist import PARSER_VERSION
from testlist.languages import READERS, SUFFIXES, language_of, reader
from testlist.sandbox.syntax import GRAMMARS, named, parse
from testlist.version import NEWEST, OLDEST, STACK, installed, parser_version, untested

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
    "csharp": (
        b"using A;\nnamespace B;\n[C] public class D<E> : F { [G(H = 1)] void I() {} }\nrecord J;",
        "using_directive file_scoped_namespace_declaration class_declaration record_declaration",
    ),
    "php": (
        b"<?php namespace A; use B\\C as D;\n#[E] class F extends G { use H; }\ntrait I {}\nit('j', fn () => 1)->k();",
        "php_tag namespace_definition namespace_use_declaration class_declaration trait_declaration expression_statement",
    ),
    "swift": (
        b"import A\n#if B\n@Test(.c) func d(e: F) -> G {}\n#endif\nclass H: I { func j() {} }\nextension H.K {}\n",
        "import_declaration directive function_declaration directive class_declaration class_declaration",
    ),
    "ruby": (
        b"class A < B; end\nmodule C; end\nD = E.new do\nend\ndef f; end\ndef self.g; end\nit 'h', :i, j: 1 do end",
        "class module assignment method singleton_method call",
    ),
    "elixir": (
        b'defmodule A do\n  use B\nend\n@tag c: 1\ntest "d #{e}", f do\nend\n[1] |> Enum.each(fn g -> h(g) end)\n',
        "call unary_operator call binary_operator",
    ),
    "rust": (
        b"#[test]\nfn a() {}\nmod b {}\nmacro_rules! c { ($d:ident) => { e } }\nf! { g }",
        "attribute_item function_item mod_item macro_definition macro_invocation",
    ),
    "scala": (
        (
            b'package a\nimport b.{c => d}\n@E class F(g: H) extends I with J { test("k") { l => } }\n'
            b'trait M { "n" should "o" in {} }\nobject P { property("q") = r; for (s <- t) u }\n'
        ),
        "package_clause import_declaration class_definition trait_definition object_definition",
    ),
    "dart": (
        (
            b"@A(b)\nimport 'c' as d;\npart 'e';\nvoid f(G h) { i('j', () {}); }\n"
            b"class K extends L with M { @N void o() {} }\nmixin P on Q {}\n"
        ),
        "import_or_export part_directive function_signature function_body class_definition mixin_declaration",
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


DECLARED = Path(__file__).parents[2] / "pyproject.toml"


def test_what_is_installed_is_what_the_version_says() -> None:
    assert {name: version(name) for name in NEWEST} == STACK
    assert untested(STACK) == []


def test_the_ranges_begin_with_what_was_tested_and_have_the_newest() -> None:
    declared = tomllib.loads(DECLARED.read_text())["project"]["dependencies"]
    ranges = {name: rest.split(",<") for name, _, rest in (one.partition(">=") for one in declared)}
    assert {name: first for name, (first, _) in ranges.items()} == OLDEST
    for name, (first, end) in ranges.items():
        assert numbers(first) <= numbers(NEWEST[name]) < numbers(end)


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(".")]


def test_a_stack_that_was_not_tested_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tree_sitter_go-0.25.9.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", ["", str(tmp_path / "gone"), str(tmp_path), *sys.path])
    found = installed(NEWEST)
    assert untested(found) == ["tree-sitter-go 0.25.9"]
    assert installed(["tree-sitter-lost"]) == {"tree-sitter-lost": "unknown"}
    assert parser_version("1.0.0", found) != PARSER_VERSION


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
