"""Leaving bodies out of a file changes nothing that is read from it, and takes no longer than the file is long."""

import time

import pytest

from tasks.inventory.jvm import bodies as java
from tasks.inventory.jvm import lambdas, preamble
from tasks.inventory.languages import reader
from tasks.inventory.php import bodies as php
from tests.inventory.test_corpus import CORPUS

FILLER = b'$this->assertSame("a", $this->cart()->total([1, 2, 3]));\n        '
PHP = rb"""<?php
namespace Shop;
use PHPUnit\Framework\TestCase;
#[Group('a {')]
class CartTest extends TestCase {
    private $open = '{'; # a comment with {
    /** @test } */
    public function adds(int $one = 1, array $more = []): ?static { FILLER $a = "{$b->c} ${d} \" }"; }
    public function testBraces() { FILLER if (1) { $x = '}'; } // }
        /* } */ } public function testBehindIt() { FILLER }
    public function testSkipped() { $this->markTestSkipped('{'); FILLER }
    public function testDefault($a = 'x){') { FILLER }
    protected function setUp(): void { $this->MarkTestIncomplete(); FILLER }
    public function testMaker() { FILLER return new class { public function testInner() { FILLER } }; }
    abstract public function testAbstract();
    public function testFilled() { FILLER $a = "{$b["}"]}"; FILLER }
    public function testLast() { FILLER $a = <<<'X'
        } {
        X; FILLER }
}
function helper() { FILLER class Hidden {} }
it('counts', function () { FILLER });
describe('group', function () { it('inside', function () { FILLER }); });
""".replace(b"FILLER", FILLER)

JAVA = rb'''package shop;
import org.junit.jupiter.api.Test;
@Group({"a", "{"})
class CartTest extends Base {
    char open = '{', quote = '\''; // {
    static { load("}"); }
    CartTest() { FILLER }
    @Test void adds() throws java.io.IOException, @Checked Other { FILLER if (a) { b("}"); } /* } */ } @Test void behind() {}
    @Test void text() { String a = """
        } " ""\" {
        """; FILLER }
    Runnable made = new Runnable() { @Test public void run() { FILLER } };
    enum Kind { ONE(1) { @Test void no() { FILLER } }; @Test void inside() { FILLER } }
    @interface Mark { String[] value() default {}; }
    @Nested class Inner { @Test void nested() { FILLER new Object() { @Test void no() { FILLER } }; } }
    @Test abstract void none();
}
'''.replace(b"FILLER", b"cart.add(1, 2, 3).and(() -> { assertEquals(1, 2); });\n")
RECORD = b"record Point(int x, int y) {\n" + b"    @Test void sums() { assertEquals(3, x + y); }\n" * 5 + b"}\n"
KOTLIN = rb'''/* of a shop { */
@file:Suppress("unused")
package shop.cart // {
import a.b.*
import a.`in`.Cart as Basket
@Group("a { ${b { "c" }}")
class CartTest(val made: () -> Int = { 1 }) : Base by made {
    private val open = '{'; val late by lazy { FILLER }
    init { FILLER }
    @Test fun adds(one: Int = max(1, (2)), more: List<(Int) -> Unit>): Int? { FILLER "${if (a) { "}" } else 1}" }
    @Test fun `with { a brace`() = runTest(1) { FILLER }
    @Test fun text() { """ } " "" ${"{"} """; FILLER }
    abstract fun none(): Int
    class Inner { @Test fun nested() { FILLER object : Any() { fun no() { FILLER } } } }
    fun Cart.last(): Unit = FILLER
}
fun loose() { FILLER class Hidden { @Test fun no() { FILLER } } }
'''.replace(b"FILLER", b"cart.add(1, 2, 3).let { '{' to \"}\" } // }\n")
SPECIFICATION = rb"""package shop
import io.kotest.core.spec.style.FunSpec
class CartSpec : FunSpec({
    test("adds ${1}") { FILLER }
    context("inside") { xtest("not") { FILLER }; test("last").config(enabled = false) { FILLER } }
    include(more())
}) { fun plain() { FILLER } }
fun more() = funSpec { test("further") { FILLER } }
fun FunSpecRootScope.given(name: String) { test(name) { FILLER } }
class Words : StringSpec() { init { "reads { this" { FILLER } } }
""".replace(b"FILLER", b"cart.add(1, 2, 3).let { one -> assertEquals(2, one + '{'.code) } // }\n")


@pytest.mark.parametrize("source", [KOTLIN, SPECIFICATION], ids=["classes", "specifications"])
def test_kotlin_is_read_the_same(source: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    short = reader("kotlin").extract(source, "kotlin")
    less = lambdas.without(source, specifies=b"otest" in source)
    assert len(less) < len(source) * 0.7
    assert less.count(b"\n") == source.count(b"\n")
    monkeypatch.setattr("tasks.inventory.jvm.lambdas.blanked", lambda source, *_: source)
    assert reader("kotlin").extract(source, "kotlin") == short


@pytest.mark.parametrize(("language", "module", "source"), [("php", php, PHP), ("java", java, JAVA)])
def test_what_is_read_is_the_same(
    language: str, module: object, source: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = reader(language).extract(source, language)
    less = module.without(source)  # type: ignore[attr-defined]
    assert len(less) < len(source) * 0.9
    assert less.count(b"\n") == source.count(b"\n")
    monkeypatch.setattr("tasks.inventory.php.bodies.blanked", lambda source, *_: source)
    monkeypatch.setattr("tasks.inventory.jvm.bodies.blanked", lambda source, *_: source)
    assert reader(language).extract(source, language) == short


@pytest.mark.parametrize(("suffix", "language"), [("php", "php"), ("java", "java"), ("kt", "kotlin")])
def test_the_corpus_is_read_the_same(suffix: str, language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [path.read_bytes() for path in sorted(CORPUS.rglob(f"*.{suffix}.sample"))]
    short = [reader(language).extract(source, language) for source in sources]
    assert short
    monkeypatch.setattr("tasks.inventory.bodies.SHORTEST", 1 << 30)
    assert [reader(language).extract(source, language) for source in sources] == short


@pytest.mark.parametrize(
    "source",
    [b"<html>" + PHP, PHP + b"?>\n<p>'", b"", b"<?php"],
    ids=["after a page", "before a page", "empty", "nothing but the tag"],
)
def test_what_is_not_php_throughout_stays_as_it_is(source: bytes) -> None:
    assert php.without(source) == source


def test_a_record_keeps_its_methods() -> None:
    assert java.without(RECORD) == RECORD


@pytest.mark.parametrize("tail", [b"", b"{}" * 50_000, b"x" * 100_000], ids=["", "braces", "letters"])
@pytest.mark.parametrize(
    "unit",
    [b"function a(){", b"function a(){{}", b"){", b"){{}", b'){ "', b'function a(){"', b'function a(){"{$', b'"', b"'",
     b"/*", b"/**/", b"//\n", b"function a(", b"function ", b") throws ", b")   ", b"{", b"}", b'"""', b"'a", b'"\\',
     b"){};", b"function a(){" + b"{" * 10 + b"}" * 11, b"){" + b"{" * 10 + b"}" * 11, b"fun ", b"fun a(", b"fun a()", b"fun a(){", b"fun a()={", b"=a<", b'test("a") {',
     b'fun a("${', b"`", b"import a\n", b"import a."],
)  # fmt: skip
def test_hostile_text_takes_no_longer_than_its_length(unit: bytes, tail: bytes) -> None:
    before = time.process_time()
    php.without(b"<?php " + unit * (150_000 // len(unit)) + tail)
    java.without(unit * (150_000 // len(unit)) + tail)
    for specifies in (False, True):
        lambdas.without(unit * (150_000 // len(unit)) + tail, specifies=specifies)
    preamble.read(unit * (150_000 // len(unit)) + tail)
    assert time.process_time() - before < 4
