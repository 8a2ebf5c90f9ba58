"""What tests in PHP check, by their source alone."""

from typing import Any

import pytest
from testlist_harness.checks import Read, only

HEAD = "<?php\nuse PHPUnit\\Framework\\TestCase;\n"
PEST = {"composer.json": '{"require-dev": {"pestphp/pest": "^3"}}'}


def phpunit(body: str, *, above: str = "", beside: str = "") -> dict[str, str]:
    """A class with one test."""
    test = f"  {above}\n  public function testA(): void\n  {{\n    {body}\n  }}\n"
    return {"tests/ATest.php": f"{HEAD}class ATest extends TestCase\n{{\n{test}{beside}\n}}\n"}


def pest(statement: str) -> dict[str, str]:
    """A file of Pest with this statement."""
    return {**PEST, "tests/ATest.php": f"<?php\n{statement}\n"}


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("$this->assertSame(3, $got);", {"relation": "equal", "subject": "$got", "expected": "3", "value": 3}),
        ("self::assertNotEquals('a', $b);",
         {"relation": "equal", "negated": True, "subject": "$b", "expected": "'a'", "value": "a"}),
        ("static::assertTrue($a->ok());", {"relation": "truthy", "subject": "$a->ok()"}),
        ("\\PHPUnit\\Framework\\Assert::assertNotNull($a);", {"relation": "none", "negated": True, "subject": "$a"}),
        ("assertFalse($a);", {"relation": "truthy", "negated": True, "subject": "$a"}),
        ("assert($a > 1);", {"relation": "greater", "subject": "$a", "expected": "1", "value": 1}),
        ("assert($a !== null, 'why');", {"relation": "none", "negated": True, "subject": "$a"}),
        ("\\assert(!is_null($a));", {"relation": "none", "negated": True, "subject": "$a"}),
        ("assert(3 === $a);", {"relation": "equal", "subject": "$a", "expected": "3", "value": 3}),
        ("assert(!($a instanceof A));", {"relation": "type", "negated": True, "subject": "$a", "expected": "A"}),
        ("assert($a || $b);", {"relation": "truthy", "subject": "$a || $b"}),
        ("assert(in_array($b, $a));", {"relation": "contains", "subject": "$a", "expected": "$b"}),
        ("$this->assertSame(actual: $a, expected: null);",
         {"relation": "equal", "subject": "$a", "expected": "null", "value": None}),
        ("$this->assertEqualsWithDelta(1, $a, 0.1);",
         {"relation": "approximate", "subject": "$a", "expected": "1", "value": 1, "tolerance": "0.1"}),
        ("$this->assertCount(2, $a);", {"relation": "length", "subject": "$a", "expected": "2", "value": 2}),
        ("$this->assertNotEmpty($a);", {"relation": "empty", "negated": True, "subject": "$a"}),
        ("$this->assertStringNotContainsString('x', $a);",
         {"relation": "contains", "negated": True, "subject": "$a", "expected": "'x'", "value": "x"}),
        ("$this->assertStringStartsWith('x', $a);",
         {"relation": "starts_with", "subject": "$a", "expected": "'x'", "value": "x"}),
        ("$this->assertDoesNotMatchRegularExpression('/x/', $a);",
         {"relation": "matches", "negated": True, "subject": "$a", "expected": "'/x/'", "value": "/x/"}),
        ("$this->assertInstanceOf(Cart::class, $a);",
         {"relation": "type", "subject": "$a", "expected": "Cart::class"}),
        ("$this->assertInstanceof(Cart::class, $a);",
         {"relation": "type", "subject": "$a", "expected": "Cart::class"}),
        ("$this->assertIsNotArray($a);", {"relation": "type", "negated": True, "subject": "$a"}),
        ("$this->assertArrayNotHasKey('x', $a);",
         {"relation": "has", "negated": True, "subject": "$a", "expected": "'x'", "value": "x"}),
        ("$this->assertLessThanOrEqual(3, $a);",
         {"relation": "less_equal", "subject": "$a", "expected": "3", "value": 3}),
        ("$this->assertFileDoesNotExist('a');", {"relation": "truthy", "negated": True, "subject": "'a'"}),
        ("$this->assertCart($a, $b);", {"relation": "custom", "subject": "$a", "expected": "$b"}),
        ("$this->fail('no');", {"relation": "fails"}),
        ("$this->expectException(E::class);\n$this->expectExceptionMessage('x');",
         {"relation": "raises", "expected": "E::class", "message": "'x'"}),
        ("$this->expectOutputString('x');", {"relation": "logs", "expected": "'x'", "value": "x"}),
        ("$this->get('/')->assertStatus(200);",
         {"relation": "equal", "subject": "$this->get('/')", "expected": "200", "value": 200}),
        ("$response->assertDontSee('x');",
         {"relation": "contains", "negated": True, "subject": "$response", "expected": "'x'", "value": "x"}),
        ("Mail::assertSent(Hello::class);", {"relation": "called", "subject": "Mail", "expected": "Hello::class"}),
        ("foreach ($a as $b) { $this->assertNull($b); }", {"relation": "none", "subject": "$b"}),
        ("$f = function () { $this->assertNull($b); };", {"relation": "none", "subject": "$b"}),
    ],
)  # fmt: skip
def test_a_statement_of_phpunit_is_read_as(read: Read, statement: str, check: dict[str, Any]) -> None:
    found = read(phpunit(statement))
    assert only(found) == [check]
    assert [one.cannot_fail for one in found.values() if one] == [None]


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("$a->expects($this->once())->method('pay');",
         {"relation": "called", "subject": "$a", "expected": "'pay'", "value": "pay"}),
        ("$a->expects(self::never())->method('pay');",
         {"relation": "called", "negated": True, "subject": "$a", "expected": "'pay'", "value": "pay"}),
        ("$a->expects($this->exactly(2))->method('pay')->with(5);",
         {"relation": "called_with", "subject": "$a", "expected": "5", "value": 5}),
        ("$a->shouldReceive('pay')->once()->andReturn(1);",
         {"relation": "called", "subject": "$a", "expected": "'pay'", "value": "pay"}),
        ("$a->expects('pay')->with($b);", {"relation": "called_with", "subject": "$a", "expected": "$b"}),
        ("$a->shouldNotHaveReceived('pay');",
         {"relation": "called", "negated": True, "subject": "$a", "expected": "'pay'", "value": "pay"}),
        ("$a->pay(1)->shouldBeCalled();", {"relation": "called", "subject": "$a", "expected": "pay"}),
    ],
)  # fmt: skip
def test_a_demand_of_a_double_is_read_as(read: Read, statement: str, check: dict[str, Any]) -> None:
    assert only(read(phpunit(statement))) == [check]


@pytest.mark.parametrize(
    "statement",
    ["$a->expects($this->any())->method('pay');", "$a->shouldReceive('pay')->andReturn(1);", "$a->fail();",
     "$this->addToAssertionCount(1);", "$this->expectNotToPerformAssertions();"],
)  # fmt: skip
def test_a_call_that_only_allows_or_counts_is_no_check(read: Read, statement: str) -> None:
    assert only(read(phpunit(statement))) == []


@pytest.mark.parametrize(
    ("statement", "checks"),
    [
        ("expect($a)->toBe(3);", [{"relation": "equal", "subject": "$a", "expected": "3", "value": 3}]),
        ("expect($a)->toBe(3)->and($b)->not->toContain('x')->toBeNull();",
         [{"relation": "equal", "subject": "$a", "expected": "3", "value": 3},
          {"relation": "contains", "negated": True, "subject": "$b", "expected": "'x'", "value": "x"},
          {"relation": "none", "subject": "$b"}]),
        ("expect($a)->name->not()->toBeFalse()->toBeInstanceOf(B::class);",
         [{"relation": "truthy", "subject": "$a->name"},
          {"relation": "type", "subject": "$a->name", "expected": "B::class"}]),
        ("expect($a)->b()->toBeNull()->c->toBeNull();",
         [{"relation": "none", "subject": "$a->b()"}, {"relation": "none", "subject": "$a->c"}]),
        ("expect($a)->json()->toBeTrue('no');", [{"relation": "truthy", "subject": "$a->json()"}]),
        ("expect($a)->toArray()->toBeEmpty();", [{"relation": "empty", "subject": "$a->toArray()"}]),
        ("expect($a)->sequence(fn ($one) => $one->toBeEmpty());", [{"relation": "empty", "subject": "$one"}]),
        ("expect(fn () => f())->toThrow(E::class, 'x');",
         [{"relation": "raises", "subject": "fn () => f()", "expected": "E::class", "message": "'x'"}]),
        ("expect($a)->toEqualWithDelta($b, 0.1);",
         [{"relation": "approximate", "subject": "$a", "expected": "$b", "tolerance": "0.1"}]),
        ("expect($a)->each->toBeCheap();", [{"relation": "custom", "subject": "$a"}]),
        ("expect($a)->each(fn ($one) => expect($one)->toBeEmpty());", [{"relation": "empty", "subject": "$one"}]),
        ("$this->assertSame(1, $a);", [{"relation": "equal", "subject": "$a", "expected": "1", "value": 1}]),
    ],
)  # fmt: skip
def test_a_statement_of_pest_is_read_as(read: Read, statement: str, checks: list[dict[str, Any]]) -> None:
    found = read(pest(f"describe('b', function () {{\n it('does', function () {{\n {statement}\n }});\n}});"))
    assert only(found) == checks
    assert [one.cannot_fail for one in found.values() if one] == [None]


def test_links_behind_a_test_of_pest_are_checks(read: Read) -> None:
    assert only(read(pest("it('throws', function () { f(); })->throws(E::class, 'x');"))) == [
        {"relation": "raises", "expected": "E::class", "message": "'x'"}
    ]
    assert only(read(pest("test('one')->expect(f())->toBe(1);"))) == [
        {"relation": "equal", "subject": "f()", "expected": "1", "value": 1}
    ]
    assert only(read(pest("it('answers')->get('/')->assertOk();"))) == [
        {"relation": "truthy", "subject": "it('answers')->get('/')"}
    ]


def test_an_exception_that_is_expected_above_a_test_is_a_check(read: Read) -> None:
    above = "/**\n   * @expectedException Shop\\Sold\n   * @expectedExceptionMessage gone\n   */"
    [found] = read(phpunit("f();", above=above)).values()
    assert found is not None
    assert found.checks == ({"line": 6, "relation": "raises", "expected": "Shop\\Sold", "message": "gone"},)


def test_methods_and_functions_that_a_test_calls_count_with_it(read: Read) -> None:
    beside = "private function assertCart($a) { $this->assertNull($a); }\nprivate function cart() { self::fail(); }"
    files = phpunit("$this->assertCart(1); static::cart(); same(2);", beside=beside)
    files["tests/ATest.php"] += "function same($a) { TestCase::assertSame(1, $a); }\n"
    [found] = read(files).values()
    assert found is not None
    assert [(one["by"], one["relation"]) for one in found.checks] == [
        ("self.assertCart", "none"), ("self.cart", "fails"), ("same", "equal"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("files", "why"),
    [
        (phpunit("// nothing"), "empty"),
        (phpunit("", above="/** @test\n   * @group shop */"), "empty"),
        (phpunit("$this->assertTrue(true); self::assertSame(1, 1);"), "constant"),
        (phpunit("$this->assertTrue(false);"), None),
        (phpunit("$this->assertTrue(true); f();"), None),
        (phpunit("", above="/** @expectedException E */"), None),
        (phpunit("", above="#[Test, DoesNotPerformAssertions]"), None),
        (phpunit("", beside="protected function setUp(): void { go(); }"), None),
        (phpunit("", beside="use Refresh;"), None),
        (phpunit("$this->assertTrue(true, f());"), None),
        (phpunit('$this->assertSame(1, 1, "{$a->b()}");'), None),
        (phpunit("$this->assertTrue(message: f(), condition: true);"), None),
        (phpunit('$this->assertSame("a  b", "a b");'), None),
        (phpunit("", above="/** @expectedException E */ // why"), None),
        (phpunit("", beside="#[PreCondition] public function before() { go(); }"), None),
        (phpunit("", beside="/** @before */ public function first() { go(); }"), None),
        (phpunit("", beside="/** @afterClass */ public static function last() { go(); }"), None),
        (phpunit("", beside="/** @postCondition */ public function after() { go(); }"), None),
        (phpunit("", beside="public function runBare(): void { go(); }"), None),
        (phpunit("", beside="public function ATest() { go(); }"), None),
        (phpunit("", beside="private $limit = Cart::LIMIT;"), None),
        (phpunit("", beside="const LIMIT = Cart::LIMIT;"), None),
        (
            phpunit("", beside="private ?Cart $cart = null; private $all = [1, Cart::class => -1.5]; const A = 'a';"),
            "empty",
        ),
        ({"tests/ATest.php": phpunit("")["tests/ATest.php"].replace("PHPUnit\\Framework", "Tests")}, None),
        (pest("it('is empty', function () {});"), None),
    ],
)
def test_only_an_empty_or_constant_test_that_nothing_runs_around_is_accused(
    read: Read, files: dict[str, str], why: str | None
) -> None:
    assert [one.cannot_fail for one in read(files).values() if one] == [why]


@pytest.mark.parametrize(
    ("files", "lines"),
    [
        (phpunit("$a\n->expects($this->once())\n->method('pay');\n$this\n->get('/')\n->assertOk()\n->assertSee('x');"),
         [9, 13, 14]),
        (pest("it('adds', function () {\nexpect($a)\n->toBe(1)\n->and($b)\n->toBe(2);\n})\n->throws(E::class);"),
         [8, 4, 6]),
    ],
)  # fmt: skip
def test_a_check_of_a_chain_stands_where_its_name_does(read: Read, files: dict[str, str], lines: list[int]) -> None:
    [found] = read(files).values()
    assert found is not None
    assert [one["line"] for one in found.checks] == lines


def test_a_deep_or_broken_file_is_read_without_an_exception(read: Read) -> None:
    deep = f"{'f(' * 2000}1{')' * 2000}; $a{'->b()' * 2000};"
    assert only(read(phpunit(f"{deep} $this->assertNull($a);"))) == [{"relation": "none", "subject": "$a"}]
    assert read(phpunit("$this->assertSame(; expect()->toBe(); $a->expects()->method(")) is not None
