"""Leaving bodies out of a file changes nothing that is read from it.  How long it takes: test_hostile_bodies.py."""

import pytest
from testlist.languages import reader
from testlist.languages.go import strip as golang
from testlist.languages.javascript import strip as javascript
from testlist.languages.jvm import strip_java as java
from testlist.languages.jvm import strip_kotlin
from testlist.languages.php import strip as php
from testlist.languages.python import strip as python
from testlist.languages.ruby import strip as ruby
from testlist_harness.corpus import CORPUS

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
PYTHON = rb'''import pytest
TEMPLATE = """
def test_in_text():
    FILLER
"""
@pytest.fixture(params=[1, (2, ")")])  # def test_no():
def cart(request, size: "dict[str, int]" = {"a": [1, (2)]}) -> "Cart":  # {
    FILLER
    yield 1

    # at the end of its body

def only(reason):
    FILLER
    return pytest.mark.skipif(True, reason=reason)

def make(base):
    FILLER
    class TestMade(base):
        def test_made(self):
            FILLER
    return TestMade

class TestCart:
    def test_text(self):
        """It says: "def test_no(self):"

def test_nor_this():
    """
        FILLER
    if True:
        def test_if(self): FILLER

    async def test_brackets(
        self, more=(1,
    2)):
        FILLER
        value = [
    1, "]", r"\\", f"{self['a']}", b'\'',
        ]
    # between

        FILLER \
            + 1
    def test_short(self): FILLER
    @pytest.mark.skip
    def test_last(self):
        FILLER
        FILLER
only_lambda = lambda: 0
def test_outside():
    FILLER
    for one in FILLER:
        return one.two
    def test_hidden():
        FILLER'''.replace(b"FILLER", b'assert request.cart({"a": [1, 2, (3)]}, "#", more=True)  # and (so on')
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
JAVASCRIPT = rb"""import { it as check, test } from 'vitest'
import { render } from './render'
describe('a cart', () => {
  beforeEach(() => {
    FILLER
  })
  it('adds', async () => {
    FILLER
    expect(render(<List a={[1, 2]} />)).toMatch(/[/"'`}]\)/)
  })
  it("reads", function () {
    FILLER
    expect(cart).toBe(`
  })
it('is not one', () => {
`)
  })
  test.each([[1, 2], [3, (4)]])('of %s', (one, two) => {
    FILLER
  }, 500)
  it.skip(`with ${name}`, () => {
    FILLER // })
  })
  it('leaves by itself', (context) => {
    FILLER
    context.skip()
  })
  test('has parts', async (t) => {
    FILLER
    await t.test('a part', () => {
      FILLER
    })
  })
  it('on one line', () => { cart.add(1) })
  it('unclosed { in a text', () => {
    FILLER '{'
  })
	it('with tabs', () => {
		FILLER
	})
})
const it2 = cond ? it : it.skip
it2('by another name', () => {
  FILLER
})
check('imported', () => {
  FILLER
})
for (const one of [1, 2]) {
  test('in a loop ' + one, () => {
    FILLER
  })
}
""".replace(b"FILLER", b"await cart.add([1, 2, 3], { a: { b: 'c' } }) // and so on, and so on")
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
    less = strip_kotlin.stripped(source, specifies=b"otest" in source)
    assert len(less) < len(source) * 0.7
    assert less.count(b"\n") == source.count(b"\n")
    monkeypatch.setattr("testlist.languages.jvm.strip_kotlin.blanked", lambda source, *_: source)
    assert reader("kotlin").extract(source, "kotlin") == short


@pytest.mark.parametrize(
    ("language", "module", "source"),
    [("php", php, PHP), ("java", java, JAVA), ("python", python, PYTHON), ("go", golang, GO)],
)
def test_what_is_read_is_the_same(
    language: str, module: object, source: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = reader(language).extract(source, language)
    less = module.stripped(source)  # type: ignore[attr-defined]
    assert len(less) < len(source) * 0.9
    assert less.count(b"\n") == source.count(b"\n")
    monkeypatch.setattr("testlist.languages.php.strip.blanked", lambda source, *_: source)
    monkeypatch.setattr("testlist.languages.jvm.strip_java.blanked", lambda source, *_: source)
    monkeypatch.setattr("testlist.languages.go.strip.blanked", lambda source, *_, within: source)
    monkeypatch.setattr("testlist.languages.python.facts.stripped", lambda source: source)
    assert reader(language).extract(source, language) == short


@pytest.mark.parametrize(
    ("suffix", "language"),
    [("php", "php"), ("java", "java"), ("py", "python"), ("rs", "rust"), ("kt", "kotlin"), ("go", "go")],
)
def test_the_corpus_is_read_the_same(suffix: str, language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [path.read_bytes() for path in sorted(CORPUS.rglob(f"*.{suffix}.sample"))]
    short = [reader(language).extract(source, language) for source in sources]
    assert short
    monkeypatch.setattr("testlist.kit.strip.SHORTEST", 1 << 30)
    monkeypatch.setattr("testlist.languages.python.strip.SHORTEST", 1 << 30)
    assert [reader(language).extract(source, language) for source in sources] == short


@pytest.mark.parametrize(
    "source",
    [b"<html>" + PHP, PHP + b"?>\n<p>'", b"", b"<?php"],
    ids=["after a page", "before a page", "empty", "nothing but the tag"],
)
def test_what_is_not_php_throughout_stays_as_it_is(source: bytes) -> None:
    assert php.stripped(source) == source


def test_a_record_keeps_its_methods() -> None:
    assert java.stripped(RECORD) == RECORD


def test_ruby_is_read_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [path.read_bytes() for path in sorted(CORPUS.rglob("*.rb.sample"))]
    short = [reader("ruby").extract(source, "ruby") for source in sources]
    assert any(ruby.stripped(source) != source for source in sources)
    monkeypatch.setattr("testlist.languages.ruby.facts.stripped", lambda source: source)
    assert [reader("ruby").extract(source, "ruby") for source in sources] == short


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_python_with_any_line_ending_is_shortened(ending: bytes) -> None:
    source = ending.join([b"def test_one():", b"    assert 1" * 6, b"", b"    assert 2" * 6, b"", b"x = 1", b""])
    assert python.stripped(source).split() == [b"def", b"test_one():", b"0", b"x", b"=", b"1"]


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@pytest.mark.parametrize("language", ["javascript", "tsx"])
def test_javascript_is_read_the_same(language: str, ending: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    source = JAVASCRIPT.replace(b"\n", ending)
    short = reader(language).extract(source, language)
    assert len(javascript.stripped(source)) < len(source) * 0.95  # most of it is in doubt
    assert javascript.stripped(source).count(b"\n") == source.count(b"\n")
    monkeypatch.setattr("testlist.languages.javascript.facts.stripped", lambda source: source)
    assert reader(language).extract(source, language) == short
