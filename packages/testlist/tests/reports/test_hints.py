"""What files of tests are about."""

import time

import pytest
from testlist.languages import SYNTAXES
from testlist.reports.hints import MOST, hints
from testlist_harness.tiers import few

SAMPLES = {
    "python": (
        (
            b"import pytest\nfrom shop.cart import Cart\n# call.me()\ndef test_a():\n"
            b"    x = Cart.load.all('no.call()')\n    assert len(x) == shop.total(1)\n"
        ),
        ["shop.cart", "Cart.load", "shop.total"],
    ),
    "typescript": (
        (
            b"import { it } from 'vitest'\nimport {a} from '../src/cart'\n"
            b"it('x', () => { const c = cart.items.add(1); expect(c).toBe(2); new Basket(3); console.log(1) })\n"
        ),
        ["../src/cart", "cart.items", "Basket"],
    ),
    "go": (
        (
            b'package a\nimport (\n\t"testing"\n\t"example.org/shop/cart"\n)\n'
            b"func TestA(t *testing.T) { c := cart.New(1); fmt.Println(c); t.Fatal() }\n"
        ),
        ["example.org/shop/cart", "cart.New"],
    ),
    "java": (
        (
            b"import org.junit.jupiter.api.Test;\nimport com.shop.Cart;\n"
            b"class A { @Test void adds() { Cart.of(1).add(2); assertEquals(1, helper(3)); } }\n"
        ),
        ["com.shop.Cart", "Cart.of", "helper"],
    ),
    "kotlin": (
        b'import io.kotest.core.spec.style.FunSpec\nimport com.shop.Cart\nclass A : FunSpec({ test("x") { Cart.load(1) } })\n',
        ["com.shop.Cart", "Cart.load"],
    ),
    "rust": (
        b"use shop::cart::Cart;\n#[test]\nfn adds() { let c = Cart::new(1); assert_eq!(1, c.len()); parse(x) }\n",
        ["shop::cart::Cart", "Cart.new", "parse"],
    ),
    "csharp": (
        b"using Shop.Carts;\nusing NUnit.Framework;\nclass A { [Test] public void Adds() { Cart.Load(1); Assert.That(x); } }\n",
        ["Shop.Carts", "Cart.Load"],
    ),
    "php": (
        b"<?php\nuse Shop\\Cart;\nclass A { function testA() { $c = Cart::load(1); $this->assertSame(1, $c->total()); } }\n",
        ["Shop\\Cart", "Cart.load"],
    ),
    "ruby": (
        b"require 'shop/cart'\ndescribe Cart do\n  it 'x' do\n    Cart.load(1)\n    expect(Shop.total(2)).to eq(3)\n  end\nend\n",
        ["shop/cart", "Cart.load", "Shop.total"],
    ),
}


@pytest.mark.parametrize("language", SAMPLES)
def test_imports_and_calls_without_what_every_test_has(language: str) -> None:
    source, expected = SAMPLES[language]
    assert hints(source, language) == expected


@pytest.mark.parametrize(
    ("language", "line", "expected"),
    [
        ("rust", b"let c: Cache<'_> = Cache::open(d);\n", ["Cache.open"]),
        ("kotlin", b"fun `doesn't add`() = check(Cart.load(1))\n", ["check", "Cart.load"]),
    ],
)
def test_a_quote_that_begins_no_text_hides_nothing(language: str, line: bytes, expected: list[str]) -> None:
    assert hints(line, language) == expected


def test_hints_are_few_and_each_is_told_once() -> None:
    assert hints(b"shop.total()\n" * 3, "python") == ["shop.total"]
    assert len(hints(b"".join(b"call_%d()\n" % number for number in range(99)), "python")) == MOST
    assert hints(b"shop.total()", "words") == []


@pytest.mark.parametrize(
    "piece", few(3, [b"(", b"a.", b'"', b"/*", b"'''", b'"""', b" ", b"\n", b"import ", b"x ", b"a(", b'\\"', b"\\'"])
)
def test_hostile_text_takes_no_longer_than_any(piece: bytes) -> None:
    for language in SYNTAXES:
        started = time.process_time()
        hints(piece * (300_000 // len(piece)), language)
        assert time.process_time() - started < 2, language
