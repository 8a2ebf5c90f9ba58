"""A name that a test gives itself is followed to no other file."""

import pytest
from testlist_harness.checks import Read, followed

CARGO = {"Cargo.toml": "[package]\nname = 'a'\n"}
NEARER = {
    "kotlin": {
        "src/test/kotlin/ATest.kt": "import org.junit.jupiter.api.Test\nclass ATest : BaseTest() {\n"
        "  @Test fun a() { fun verify(x: Int) { }\n verify(1) }\n  @Test fun b() { val verify = { x: Int -> }\n verify(1) }\n"
        "  @Test fun c() { run { } }\n  fun run(verify: (Int) -> Unit) { verify(1) }\n"
        "  @Test fun d() { each { verify -> verify(1) } }\n  @Test fun e() { val verify = verify(1) }\n}\n",
        "src/test/kotlin/BaseTest.kt": "import org.junit.jupiter.api.Assertions.assertEquals\n"
        "open class BaseTest { fun verify(a: Int) { assertEquals(1, a) } }\n",
    },
    "csharp": {
        "test/a.csproj": '<Project><ItemGroup><PackageReference Include="xunit" Version="2.0" /></ItemGroup></Project>',
        "test/ATests.cs": "using Xunit;\npublic class ATests : BaseTests {\n"
        "  [Fact] public void a() { void Verify(int a) { } Verify(1); }\n"
        "  [Fact] public void b() { Action<int> Verify = a => { }; Verify(1); }\n"
        "  [Fact] public void c() { Run(x => { }); }\n  void Run(Action<int> Verify) { Verify(1); }\n"
        "  [Fact] public void d() { Each(Verify => Verify(1)); }\n  [Fact] public void e() { Verify(1); }\n}\n",
        "test/BaseTests.cs": "using Xunit;\npublic class BaseTests { void Verify(int a) { Assert.Equal(1, a); } }\n",
    },
    "typescript": {
        "package.json": '{"devDependencies": {"vitest": "1"}}',
        "test/a.test.ts": "import { test } from 'vitest'\nimport { verify } from './common'\n"
        "test('a', () => { run((x) => x) })\nfunction run(verify: F) { verify(1) }\n"
        "test('b', () => { things.forEach((verify) => verify(1)) })\n"
        "test('c', () => { things.forEach(verify => verify(1)) })\n"
        "test('d', () => { things.forEach(({ verify }) => verify(1)) })\ntest('e', (x) => { verify(1) })\n",
        "test/common.ts": "import { expect } from 'vitest'\nexport function verify(a) { expect(a).toBe(1) }\n",
    },
    "rust": CARGO
    | {
        "tests/all.rs": "mod common;\nuse common::verify;\n"
        "#[test]\nfn a() { run(|x| {}); }\nfn run(verify: impl Fn(i32)) { verify(1); }\n"
        "#[test]\nfn b() { each(|verify| verify(1)); }\n#[test]\nfn c() { each(|verify: F| verify(1)); }\n"
        "#[test]\nfn d() { each(|(_, verify)| verify(1)); }\n#[test]\nfn e() { let verify = verify(1); }\n",
        "tests/common/mod.rs": "pub fn verify(a: i32) { assert_eq!(a, 1); }\n",
    },
    "python": {
        "tests/test_a.py": "from tests.common import verify\ndef test_a():\n    def verify(x): pass\n    verify(1)\n"
        "def test_b():\n    verify = lambda x: x\n    verify(1)\ndef test_c():\n    run(f)\ndef run(verify):\n    verify(1)\n"
        "def test_d():\n    for _, verify in things: verify(1)\ndef test_e(x):\n    x.verify = y = verify(1)\n",
        "tests/common.py": "def verify(a):\n    assert a == 1\n",
    },
}


def test_swift_follows_no_name_that_means_something_nearer(read: Read) -> None:
    files = {
        "Tests/ATests/ATests.swift": "import XCTest\nfinal class ATests: XCTestCase {\n"
        "  func testA() { func verify(b: Int) { XCTAssertNil(b) }\n verify(b: 1) }\n"
        "  func testB() { func verify(c: Int) { XCTAssertTrue(c) }\n func twice() { verify(c: 1) }\n twice() }\n"
        "  func testC() { run { } }\n  func run(check: () -> Void) { check() }\n"
        "  func testD() { let check = { }\n check() }\n"
        "  func testE() { [1].forEach { check in check() } }\n"
        "  func same(a: Int) { XCTAssertNil(a) }\n  func same(b: Int) { XCTAssertNil(b) }\n"
        "  func testF() { same(a: 1); self.same(b: 1) }\n"
        "  func testG() { func check(a: Int) { }\n func check(b: Int) { }\n check(a: 1) }\n"
        "  func testH() { verify(1); self.check() }\n}\n",
        "Tests/ATests/Checks.swift": "import XCTest\nfunc verify(_ a: Int) { XCTAssertEqual(a, 1) }\n"
        "func same(_ a: Int) { XCTAssertEqual(a, 1) }\nextension XCTestCase { func check() { XCTFail() } }\n",
    }
    local = {"testA": ["ATests.testA.verify"], "testB": ["ATests.testB.verify"]}
    found = read(files)
    assert {name: [one["by"] for one in found[name].checks] for name in local} == local  # type: ignore[union-attr]
    for test in ("testA", "testB", "testC", "testD", "testE", "testF", "testG"):
        assert followed(read, files, test) == []
    assert followed(read, files, "testH") == [
        ("self.verify", "Tests/ATests/Checks.swift"),
        ("self.check", "Tests/ATests/Checks.swift"),
    ]


@pytest.mark.parametrize("files", NEARER.values(), ids=NEARER)
def test_a_name_that_a_test_gives_itself_is_followed_nowhere(read: Read, files: dict[str, str]) -> None:
    found = read({"build.gradle.kts": 'testImplementation("org.junit.jupiter:junit-jupiter:5.9.0")\n', **files})
    elsewhere = {name: [one for one in checks.checks if "file" in one] for name, checks in found.items() if checks}
    assert {name.removeprefix("test_"): len(checks) for name, checks in elsewhere.items()} == {
        "a": 0, "b": 0, "c": 0, "d": 0, "e": 1,
    }  # fmt: skip
