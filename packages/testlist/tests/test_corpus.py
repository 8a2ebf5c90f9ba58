"""Every framework against a corpus of small projects, each with the rows it must give beside it."""

import json
from pathlib import Path

import pytest
from testlist.languages import all_frameworks, language_of
from testlist_harness.corpus import expected, files_of, label, one_of_each_framework, projects, rows
from testlist_harness.repositories import MakeRepository, TakeInventory
from testlist_harness.tiers import proofs


@pytest.mark.parametrize("project", proofs(projects(), but=one_of_each_framework()), ids=label)
def test_a_project_of_the_corpus_gives_exactly_its_expected_rows(
    project: Path, make_repository: MakeRepository, take: TakeInventory
) -> None:
    assert rows(take(make_repository(files_of(project)))) == expected(project)


def test_every_framework_has_a_project_in_the_corpus() -> None:
    texts = [(project / "expected.jsonl").read_text(encoding="utf-8") for project in projects()]
    covered = {json.loads(line)["framework"] for text in texts for line in text.splitlines()}
    assert {framework.name for framework in all_frameworks()} <= covered


@pytest.mark.proof
def test_a_large_commit_has_the_rows_of_a_small_one(
    make_repository: MakeRepository, take: TakeInventory, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"{label(project)}/{path}": text for project in projects() for path, text in files_of(project).items()}
    repository = make_repository(files)
    small = take(repository, checks=True)
    assert len({test.framework for test in small.tests}) > 40
    monkeypatch.setattr("testlist.engine.LARGE", 0)  # what is done is set aside as bytes
    monkeypatch.setattr("testlist.loader.MANY", 0)  # equal texts and lists of facts are one
    assert take(repository, checks=True) == small


#: a test in each language that others must not stumble over
NEIGHBOURS = {
    "cart.test.js": 'const { test } = require("node:test");\ntest("adds", () => { cart.add(1); });\n',
    "cart_test.go": 'package cart\n\nimport "testing"\n\nfunc TestCart(t *testing.T) { t.Run("a", f) }\n',
    "src/test/java/CartTest.java": "import org.junit.jupiter.api.Test;\nclass CartTest { @Test void adds() {} }\n",
    "src/test/kotlin/PriceTest.kt": "import org.junit.jupiter.api.Test\nclass PriceTest { @Test fun adds() {} }\n",
    "test_cart.py": "import unittest\n\nclass CartTest(unittest.TestCase):\n    def test_adds(self):\n        pass\n",
    "spec/cart_spec.rb": 'require "rspec"\nRSpec.describe("cart") { it("adds") { expect(1).to eq(1) } }\n',
    "tests/CartTest.php": "<?php\nclass CartTest extends PHPUnit\\Framework\\TestCase { public function testAdds() {} }\n",
    "src/lib.rs": "#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {}\n}\n",
    "Cargo.toml": '[package]\nname = "cart"\n',
    "CartTests.cs": "using Xunit;\npublic class CartTests { [Fact] public void Adds() {} }\n",
    "cart_test.cc": "#include <gtest/gtest.h>\nTEST(Cart, Adds) {}\n",
    "test/cart_test.exs": 'defmodule CartTest do\n  use ExUnit.Case\n  test "adds", do: :ok\nend\n',
    "src/test/scala/CartSuite.scala": 'class CartSuite extends munit.FunSuite {\n  test("adds") {}\n}\n',
    "features/cart.feature": "Feature: Cart\n  Scenario: adds\n    Given a cart\n",
    "test/cart.bats": '@test "adds" {\n  skip\n}\n',
    "AppTests/CartTests.m": "@interface CartTests : XCTestCase\n@end\n@implementation CartTests\n- (void)testAdds {}\n@end\n",
    "test/cart_test.dart": "import 'package:test/test.dart';\nvoid main() {\n  test('adds', () {});\n}\n",
    "Tests/CartTests.swift": "import XCTest\nclass CartTests: XCTestCase { func testAdds() {} }\n",
}


@pytest.mark.parametrize("project", proofs(projects(), but=one_of_each_framework()[::5]), ids=label)
def test_tests_in_other_languages_beside_it_change_nothing(
    project: Path, make_repository: MakeRepository, take: TakeInventory
) -> None:
    files = files_of(project)
    own = {language_of(path) for path in files}
    others = {f"neighbour/{path}": text.encode() for path, text in NEIGHBOURS.items() if language_of(path) not in own}
    beside = take(make_repository(files | others))
    assert [row for row in rows(beside) if not str(row["file"]).startswith("neighbour/")] == expected(project)
    assert [file.path for file in beside.files if file.skipped and file.path.startswith("neighbour/")] == []
