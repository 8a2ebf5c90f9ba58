"""Leaving bodies out of hostile text takes no longer than the text is long."""

import time

import pytest
from testlist.languages.go import strip as golang
from testlist.languages.javascript import strip as javascript
from testlist.languages.javascript.facts import extract
from testlist.languages.jvm import facts_header, strip_kotlin
from testlist.languages.jvm import strip_java as java
from testlist.languages.php import strip as php
from testlist.languages.python import strip as python
from testlist.languages.ruby import strip as ruby
from testlist.languages.rust import strip as rust
from testlist_harness.tiers import proofs


@pytest.mark.parametrize(
    "unit", [b'it "x" do\n', b"def test_a\n  b\n", b'it "<<A" do\n  <<~B\nend\n', b"before a", b"\t"]
)
def test_hostile_ruby_takes_no_longer_than_its_length(unit: bytes) -> None:
    before = time.process_time()
    ruby.stripped(unit * (150_000 // len(unit)))
    ruby.stripped(b"".join(b" " * depth + unit for depth in range(500)))
    assert time.process_time() - before < 2


UNITS = (
    b"function a(){", b"function a(){{}", b"){", b"){{}", b'){ "', b'function a(){"', b'function a(){"{$', b'"', b"'",
     b"/*", b"/**/", b"//\n", b"function a(", b"function ", b") throws ", b")   ", b"{", b"}", b'"""', b"'a", b'"\\',
     b"){};", b"function a(){" + b"{" * 10 + b"}" * 11, b"){" + b"{" * 10 + b"}" * 11, b"fun ", b"fun a(", b"fun a()", b"fun a(){", b"fun a()={", b"=a<", b'test("a") {',
     b'fun a("${', b"`", b"import a\n", b"import a.",
     b"{Skip ", b"{Skip }", b"{Skip" + b" " * 50 + b"{}}", b"{Run(" * 5 + b"}" * 5,
)  # fmt: skip


@pytest.mark.parametrize(
    "tail", proofs([b"", b"{}" * 50_000, b"x" * 100_000], but=[b"{}" * 50_000]), ids=["", "braces", "letters"]
)
@pytest.mark.parametrize("unit", proofs(UNITS, but=UNITS[::8]))
def test_hostile_text_takes_no_longer_than_its_length(unit: bytes, tail: bytes) -> None:
    before = time.process_time()
    php.stripped(b"<?php " + unit * (150_000 // len(unit)) + tail)
    php.stripped(b"<?php function a() { " + unit * (50_000 // len(unit)) + tail)
    rust.stripped(b"fn a(" + unit * (50_000 // len(unit)) + tail)
    java.stripped(b"void a() { " + unit * (50_000 // len(unit)) + tail)
    rust.stripped(b"fn a() { " + unit * (150_000 // len(unit)) + tail)
    java.stripped(unit * (150_000 // len(unit)) + tail)
    golang.stripped(unit * (150_000 // len(unit)) + tail)
    golang.stripped(b"Skip func Example " + unit * (150_000 // len(unit)) + tail + b"//")
    assert time.process_time() - before < 2


@pytest.mark.parametrize(
    "tail", proofs([b"", b"{}" * 50_000, b"x" * 100_000], but=[b"{}" * 50_000]), ids=["", "braces", "letters"]
)
@pytest.mark.parametrize("unit", proofs(UNITS, but=UNITS[::8]))
def test_hostile_kotlin_takes_no_longer_than_its_length(unit: bytes, tail: bytes) -> None:
    before = time.process_time()
    for specifies in (False, True):
        strip_kotlin.stripped(unit * (150_000 // len(unit)) + tail, specifies=specifies)
        strip_kotlin.stripped(b"fun a(" + unit * (50_000 // len(unit)) + tail, specifies=specifies)
        strip_kotlin.stripped(b'test("a${' + unit * (50_000 // len(unit)) + tail, specifies=specifies)
    facts_header.read(unit * (150_000 // len(unit)) + tail)
    assert time.process_time() - before < 2


@pytest.mark.parametrize(
    "tail",
    proofs([b"", b"()" * 50_000, b"x" * 100_000, b"\n" * 100_000], but=[b"()" * 50_000]),
    ids=["", "()", "x", "lines"],
)
@pytest.mark.parametrize(
    "unit",
    [b"def a(", b"def a():\n", b"def a():\n ", b"(", b"()", b"def a(" + b"(" * 10 + b")" * 10, b'"', b'""', b'"""',
     b"'''a", b'"""a""" ', b"\\", b"\\\n", b"#", b"#\n", b" ", b" \n", b"\tdef a():\n\t\tx = (\n", b"async ",
     b"def a():\n  return (", b"f'"],
)  # fmt: skip
def test_hostile_python_takes_no_longer_than_its_length(unit: bytes, tail: bytes) -> None:
    before = time.process_time()
    python.stripped(unit * (150_000 // len(unit)) + tail)
    python.stripped(b"def a():\n    " + unit * (150_000 // len(unit)) + tail)
    python.stripped(b"def a(" + unit * (50_000 // len(unit)) + tail)
    python.stripped(b"".join(b" " * depth + b"def a():\n" for depth in range(500)) + unit * 10_000 + tail)
    assert time.process_time() - before < 2


@pytest.mark.parametrize(
    "tail",
    proofs([b"", b"})" * 50_000, b"x" * 100_000, b"\n" * 100_000], but=[b"})" * 50_000]),
    ids=["", "})", "x", "lines"],
)
@pytest.mark.parametrize(
    "unit",
    [b"\nit('a', () => {\n", b"\nit('a', () => {\n x\n", b"\nit(", b"\nit('", b"\nit(`${", b"\nit.each(", b"\nit.each(()", b"`",
     b"\n  it('a', () => {\n `\n  })\n", b"\n", b"\n ", b"{", b"\nit('a'+", b"\nit('a', {", b"\nit('a', (", b"\nit.only"],
)  # fmt: skip
def test_hostile_javascript_takes_no_longer_than_its_length(unit: bytes, tail: bytes) -> None:
    before = time.process_time()
    javascript.stripped(unit * (150_000 // len(unit)) + tail)
    javascript.stripped(b"\nit('a', (" + unit * (50_000 // len(unit)) + tail)
    javascript.stripped(b"\nit.each(" + unit * (50_000 // len(unit)) + tail)
    assert time.process_time() - before < 2


def test_functions_that_hide_many_runners_are_read_however_deep_they_lie() -> None:
    names = range(3_000)
    source = b"".join(b"const t%d = require('tap');\n" % name for name in names)
    source += b"".join(b"(t%d => " % name for name in names) + b"1" + b")" * len(names)
    assert extract(source, "javascript")["calls"] == []


@pytest.mark.parametrize("unit", [b"x <<A\n", b"<<A <<A ", b"<<A\nA\n", b"x <<~A\ny\n"])
def test_texts_of_ruby_that_never_end_are_found_in_one_pass(unit: bytes) -> None:
    source = unit * (300_000 // len(unit))
    assert ruby.plain(source).count(b"\n") == source.count(b"\n")
