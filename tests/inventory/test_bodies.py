"""Leaving bodies out of a file changes nothing that is read from it, and takes no longer than the file is long."""

import time

import pytest

from tasks.inventory.golang import bodies as golang
from tasks.inventory.jvm import bodies as java
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
GO = rb"""//go:build linux
package shop
import (
    "testing"
    "github.com/stretchr/testify/suite"
)
type Cart struct {
    suite.Suite
    open func() struct { once bool }
}
type Opened interface { Open() }
var text, quote = `}{"`, '{' // {
var tables = []struct {
    name string
}{ {"TABLE }"}, {`TABLE {`} }
func TestAdds(t *testing.T) { FILLER s := "}" /* } */; r := '}'; q := `}
` ; FILLER }
func TestSkipped(t *testing.T) {
    t.Skip("{"); FILLER
}
func TestWhen(t *testing.T) {
    if testing.Short() { FILLER; t.Skip() }
    for { FILLER }
}
func TestGroup(t *testing.T) {
    t.Run("one", func(t *testing.T) { FILLER })
    t.Run("two", func(t *testing.T) { FILLER; t.Run("three", func(t *testing.T) { t.SkipNow(); FILLER }) })
    for _, one := range []string{"TABLE", "TABLE"} { FILLER }
}
func TestCart(t *testing.T) { cart := &Cart{nil, "TABLE"}; suite.Run(t, cart) }
func (c *Cart) TestOpens(){ FILLER }
func with(open map[string]interface{}, other struct{}) *Cart { FILLER return nil }
func ExampleLast() {
    FILLER // Output: a
    func() { FILLER; /* nothing */ }()
}
func ExampleInside() { func() { FILLER } ()
    { FILLER
      // Output: a
    }
}
"""
GO = GO.replace(b"FILLER", b"cart.add(1, 2, 3, func() { check(1, 2, 3) }); a = T{1, 2, 3, 4};\n").replace(
    b"TABLE", b"long " * 9
)
RECORD = b"record Point(int x, int y) {\n" + b"    @Test void sums() { assertEquals(3, x + y); }\n" * 5 + b"}\n"


@pytest.mark.parametrize(
    ("language", "module", "source"), [("php", php, PHP), ("java", java, JAVA), ("go", golang, GO)]
)
def test_what_is_read_is_the_same(
    language: str, module: object, source: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = reader(language).extract(source, language)
    less = module.without(source)  # type: ignore[attr-defined]
    assert len(less) < len(source) * 0.9
    assert less.count(b"\n") == source.count(b"\n")
    monkeypatch.setattr("tasks.inventory.php.bodies.blanked", lambda source, *_: source)
    monkeypatch.setattr("tasks.inventory.jvm.bodies.blanked", lambda source, *_: source)
    monkeypatch.setattr("tasks.inventory.golang.bodies.blanked", lambda source, *_, within: source)
    assert reader(language).extract(source, language) == short


@pytest.mark.parametrize(("suffix", "language"), [("php", "php"), ("java", "java"), ("go", "go")])
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
     b"){};", b"`", b"{Skip ", b"{Skip }", b"{Skip" + b" " * 50 + b"{}}", b"{Run(" * 5 + b"}" * 5, b"function a(){" + b"{" * 10 + b"}" * 11, b"){" + b"{" * 10 + b"}" * 11],
)  # fmt: skip
def test_hostile_text_takes_no_longer_than_its_length(unit: bytes, tail: bytes) -> None:
    before = time.process_time()
    php.without(b"<?php " + unit * (150_000 // len(unit)) + tail)
    java.without(unit * (150_000 // len(unit)) + tail)
    golang.without(unit * (150_000 // len(unit)) + tail)
    golang.without(b"Skip func Example " + unit * (150_000 // len(unit)) + tail + b"//")
    assert time.process_time() - before < 2
