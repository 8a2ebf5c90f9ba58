"""What seed_bodies.py writes, by language: bodies that cannot fail, and others that may.

`{body}` stands for the original statements.  A kind that a language lacks is one that its libraries do not let pass, as
Go's `recover` catches no failed check.
"""

from typing import Final, NamedTuple

BODY: Final = "{body}"
#: how an original body checks, and what stands in its place: checks of literals that hold, each a body of its own
Constants = list[tuple[str, tuple[str, ...]]]


class Bodies(NamedTuple):
    """What is written in one language.

    passing: kind -> bodies that cannot fail; failing: such that may; constants: of those that the original decides.
    """

    comment: str
    passing: dict[str, tuple[str, ...]]
    failing: dict[str, str]
    constants: Constants


CURLY_TRY: Final = f"try {{\n    {BODY}\n}} catch (e) {{\n}}"
PYTHON: Final = Bodies(
    "# later",
    {
        "no check": ("total = 1 + 2\nother = total * 3", "items = [1, 2]\nname = 'a'"),
        "returned": (f"return\n{BODY}", f"return None\n{BODY}"),
        "ignored": (f"try:\n    {BODY}\nexcept:\n    pass", f"try:\n    {BODY}\nexcept BaseException:\n    pass"),
    },
    {
        "variable": "total = compute()\nassert total",
        "called": "compute()",
        "may return": f"if is_slow():\n    return\n{BODY}",
        "raised again": f"try:\n    {BODY}\nexcept BaseException:\n    raise",
        "failed": f"try:\n    {BODY}\nexcept BaseException:\n    assert False",
        "before return": f"{BODY}\nreturn",
        "setup alone": f"try:\n    prepare()\nexcept:\n    pass\n{BODY}",
        "narrow": f"try:\n    {BODY}\nexcept ValueError:\n    pass",
    },
    [
        (r"self\.assert", ("self.assertTrue(True)", "self.assertEqual(1, 1)")),
        (r"\bassert\b", ("assert True", "assert 1 == 1")),
    ],
)
JAVASCRIPT: Final = Bodies(
    "// later",
    {
        "no check": ("const total = 1 + 2;", "let name = 'a';\nname = 'b';"),
        "returned": (f"return;\n{BODY}",),
        "ignored": (CURLY_TRY, f"try {{\n    {BODY}\n}} catch {{}}"),
    },
    {
        "variable": "const total = compute();\nexpect(total).toBe(true);\nassert.ok(total);",
        "called": "compute();",
        "may return": f"if (isSlow()) {{ return; }}\n{BODY}",
        "raised again": f"try {{\n    {BODY}\n}} catch (e) {{ throw e; }}",
        "failed": f"try {{\n    {BODY}\n}} catch (e) {{ expect(e).toBeNull(); assert.fail(); }}",
        "before return": f"{BODY}\nreturn;",
        "setup alone": f"try {{ prepare(); }} catch (e) {{}}\n{BODY}",
        "finally": f"try {{\n    {BODY}\n}} finally {{ compute(); }}",
    },
    [
        (r"\)\.to\.", ("expect(true).to.equal(true);", "expect(1).to.equal(1);")),
        (r"\bexpect\(", ("expect(true).toBe(true);", "expect(1).toEqual(1);")),
        (r"\bassert\.", ("assert.equal(1, 1);", "assert.ok(true);")),
    ],
)
GO: Final = Bodies(
    "// later",
    {
        "no check": ("total := 1 + 2\n_ = total", 'var name = "a"\n_ = name'),
        "returned": (f"return\n{BODY}",),
    },
    {
        "variable": "if compute() != 1 {\n\tt.Fatal()\n}",
        "called": "compute()",
        "may return": f"if isSlow() {{\n\treturn\n}}\n{BODY}",
        "before return": f"{BODY}\nreturn",
        "recovered": f"defer func() {{ recover() }}()\n{BODY}",
        "in a function": f"func() {{\n\tdefer func() {{ _ = recover() }}()\n\t{BODY}\n}}()",
    },
    [
        (r"\brequire\.", ("require.Equal(t, 1, 1)", "require.True(t, true)")),
        (r"\bassert\.", ("assert.Equal(t, 1, 1)", "assert.True(t, true)")),
        (r"\bt\.(?:Fatal|Error)", ("if 1 != 1 {\n\tt.Fatal()\n}", 'if false {\n\tt.Error("no")\n}')),
    ],
)
JVM_FAILING: Final = {
    "called": "compute();",
    "may return": f"if (isSlow()) {{ return; }}\n{BODY}",
    "before return": f"{BODY}\nreturn;",
}
JAVA: Final = Bodies(
    "// later",
    {
        "no check": ("int total = 1 + 2;", 'String name = "a";\nboolean other = true;'),
        "returned": (f"if (true) {{\n    return;\n}}\n{BODY}", f"if (true) return;\n{BODY}"),
        "ignored": (f"try {{\n    {BODY}\n}} catch (Throwable t) {{\n}}",),
    },
    {
        **JVM_FAILING,
        "variable": "boolean total = compute();\nassertTrue(total);\nAssertions.assertTrue(total);",
        "raised again": f"try {{\n    {BODY}\n}} catch (Throwable t) {{ throw t; }}",
        "failed": f'try {{\n    {BODY}\n}} catch (Throwable t) {{ fail("no"); }}',
        "setup alone": f"try {{ prepare(); }} catch (Throwable t) {{}}\n{BODY}",
        "narrow": f"try {{\n    {BODY}\n}} catch (Exception e) {{\n}}",
    },
    [
        (r"\bAssertions\.assert(?:True|Equals)", ("Assertions.assertEquals(1, 1);", "Assertions.assertTrue(true);")),
        (r"\bAssert\.assert(?:True|Equals)", ("Assert.assertEquals(1, 1);", "Assert.assertTrue(true);")),
        (r"\bassertEquals\(", ("assertEquals(1, 1);",)),
        (r"\bassertTrue\(", ("assertTrue(true);",)),
        (r"\bassertThat\((?:[^;]|\n)*\)\s*\.is", ("assertThat(true).isTrue();", "assertThat(1).isEqualTo(1);")),
    ],
)
KOTLIN: Final = Bodies(
    "// later",
    {
        "no check": ("val total = 1 + 2", 'val name = "a"\nval other = true'),
        "returned": (f"return\n{BODY}",),
        "ignored": (f"try {{\n    {BODY}\n}} catch (t: Throwable) {{\n}}",),
    },
    {
        **{kind: body.replace(";", "") for kind, body in JVM_FAILING.items()},
        "variable": "val total = compute()\nassertTrue(total)\ntotal shouldBe true",
        "raised again": f"try {{\n    {BODY}\n}} catch (t: Throwable) {{ throw t }}",
        "failed": f'try {{\n    {BODY}\n}} catch (t: Throwable) {{ fail("no") }}',
        "setup alone": f"try {{ prepare() }} catch (t: Throwable) {{}}\n{BODY}",
        "narrow": f"try {{\n    {BODY}\n}} catch (e: Exception) {{\n}}",
    },
    [
        (r"\bshouldBe\b", ("1 shouldBe 1", "true shouldBe true")),
        (r"\bassertEquals\(", ("assertEquals(1, 1)",)),
        (r"\bassertTrue\b", ("assertTrue(true)",)),
    ],
)
PHP: Final = Bodies(
    "// later",
    {
        "no check": ("$total = 1 + 2;", "$name = 'a';\n$other = true;"),
        "returned": (f"return;\n{BODY}",),
        "ignored": (f"try {{\n    {BODY}\n}} catch (\\Throwable $e) {{\n}}",),
    },
    {
        "variable": "$total = compute();\n$this->assertTrue($total);",
        "called": "compute();",
        "may return": f"if (isSlow()) {{ return; }}\n{BODY}",
        "raised again": f"try {{\n    {BODY}\n}} catch (\\Throwable $e) {{ throw $e; }}",
        "failed": f"try {{\n    {BODY}\n}} catch (\\Throwable $e) {{ $this->fail(); }}",
        "before return": f"{BODY}\nreturn;",
        "setup alone": f"try {{ prepare(); }} catch (\\Throwable $e) {{}}\n{BODY}",
        "narrow": f"try {{\n    {BODY}\n}} catch (\\RuntimeException $e) {{\n}}",
    },
    [
        (r"self::assert|static::assert", ("self::assertTrue(true);", "self::assertSame(1, 1);")),
        (r"\$this->assert", ("$this->assertTrue(true);", "$this->assertSame(1, 1);", "$this->assertEquals('a', 'a');")),
    ],
)
RUBY: Final = Bodies(
    "# later",
    {
        "no check": ("total = 1 + 2", "name = 'a'\nother = total = 3"),
        "returned": (f"return\n{BODY}",),
        "ignored": (f"begin\n  {BODY}\nrescue Exception\nend", f"begin\n  {BODY}\nrescue Exception => e\n  nil\nend"),
    },
    {
        "variable": "total = compute\nassert total\nexpect(total).to be true",
        "called": "compute",
        "may return": f"return if slow?\n{BODY}",
        "raised again": f"begin\n  {BODY}\nrescue Exception\n  raise\nend",
        "failed": f"begin\n  {BODY}\nrescue Exception\n  flunk\nend",
        "before return": f"{BODY}\nreturn",
        "setup alone": f"begin\n  prepare\nrescue Exception\nend\n{BODY}",
        "narrow": f"begin\n  {BODY}\nrescue => e\nend",
    },
    [
        (r"\bassert", ("assert true", "assert_equal 1, 1")),
        (r"\.must_", ("_(1).must_equal 1", "1.must_equal 1")),
        (r"\bexpect\b", ("expect(true).to be true", "expect(1).to eq(1)")),
    ],
)
CATCH_RUST: Final = "std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {"
RUST: Final = Bodies(
    "// later",
    {
        "no check": ("let total = 1 + 2;\nlet _ = total;", 'let _name = "a";'),
        "returned": (f"return;\n{BODY}",),
        "ignored": (f"let _ = {CATCH_RUST}\n    {BODY}\n}}));",),
    },
    {
        "variable": "let total = compute();\nassert!(total);",
        "called": "compute();",
        "may return": f"if is_slow() {{ return; }}\n{BODY}",
        "failed": f"let found = {CATCH_RUST}\n    {BODY}\n}}));\nassert!(found.is_ok());",
        "raised again": f"{CATCH_RUST}\n    {BODY}\n}})).unwrap();",
        "before return": f"{BODY}\nreturn;",
        "setup alone": f"let _ = {CATCH_RUST} prepare(); }}));\n{BODY}",
    },
    [(r"\bassert", ("assert!(true);", "assert_eq!(1, 1);", "assert!(1 == 1);"))],
)
CSHARP: Final = Bodies(
    "// later",
    {
        "no check": ("int total = 1 + 2;", 'var name = "a";\nbool other = true;'),
        "returned": (f"return;\n{BODY}",),
        "ignored": (f"try\n{{\n    {BODY}\n}}\ncatch\n{{\n}}", f"try\n{{\n    {BODY}\n}}\ncatch (Exception)\n{{\n}}"),
    },
    {
        "variable": "var total = Compute();\nAssert.True(total);\nAssert.IsTrue(total);",
        "called": "Compute();",
        "may return": f"if (IsSlow()) {{ return; }}\n{BODY}",
        "raised again": f"try {{\n    {BODY}\n}} catch (Exception) {{ throw; }}",
        "failed": f"try {{\n    {BODY}\n}} catch (Exception) {{ Assert.Fail(); }}",
        "before return": f"{BODY}\nreturn;",
        "setup alone": f"try {{ Prepare(); }} catch {{ }}\n{BODY}",
        "narrow": f"try {{\n    {BODY}\n}} catch (ArgumentException) {{\n}}",
    },
    [
        (r"\.Should\(\)", ("true.Should().BeTrue();", "1.Should().Be(1);")),
        (r"\.ShouldBe\(", ("1.ShouldBe(1);",)),
        (r"\bAssert\.Are", ("Assert.AreEqual(1, 1);", "Assert.IsTrue(true);")),
        (r"\bAssert\.That\(", ("Assert.That(true, Is.True);", "Assert.That(1, Is.EqualTo(1));")),
        (r"\bAssert\.(?:Equal|True|False|Null|NotNull)\(", ("Assert.Equal(1, 1);", "Assert.True(true);")),
    ],
)
SWIFT: Final = Bodies(
    "// later",
    {
        "no check": ("let total = 1 + 2\n_ = total", 'let name = "a"\n_ = name'),
        "returned": (f"return;\n{BODY}", f"return ()\n{BODY}"),
    },
    {
        "variable": "let total = compute()\nXCTAssertTrue(total)",
        "called": "compute()",
        "may return": f"if isSlow() {{ return }}\n{BODY}",
        "caught": f"do {{\n    {BODY}\n}} catch {{\n}}",
        "given back": "return\nXCTAssertTrue(compute())",
        "before return": f"{BODY}\nreturn",
        "setup alone": f"do {{ try prepare() }} catch {{ }}\n{BODY}",
    },
    [
        (r"#expect|#require", ("#expect(true)", "#expect(1 == 1)")),
        (r"XCTAssert", ("XCTAssertTrue(true)", "XCTAssertEqual(1, 1)", "XCTAssert(1 == 1)")),
        (r"\bexpect\(", ("expect(true).to(beTrue())", "expect(1).to(equal(1))", "expect(1) == 1")),
    ],
)
CPP: Final = Bodies(
    "// later",
    {
        "no check": ("int total = 1 + 2;\n(void)total;", "const bool other = true;\n(void)other;"),
        "returned": (f"return;\n{BODY}",),
    },
    {
        "variable": "auto total = compute();\nEXPECT_TRUE(total);\nCHECK(total);\nBOOST_TEST(total);",
        "called": "compute();",
        "may return": f"if (is_slow()) {{ return; }}\n{BODY}",
        "caught": f"try {{\n    {BODY}\n}} catch (...) {{\n}}",
        "before return": f"{BODY}\nreturn;",
        "setup alone": f"try {{ prepare(); }} catch (...) {{}}\n{BODY}",
    },
    [
        (r"\bEXPECT_", ("EXPECT_EQ(1, 1);", "EXPECT_TRUE(true);", "EXPECT_FALSE(false);")),
        (r"\bASSERT_", ("ASSERT_EQ(1, 1);", "ASSERT_TRUE(true);")),
        (r"\bCHECK\(", ("CHECK(true);", "CHECK(1 == 1);")),
        (r"\bREQUIRE\(", ("REQUIRE(true);", "REQUIRE(1 == 1);")),
        (r"\bBOOST_", ("BOOST_CHECK_EQUAL(1, 1);", "BOOST_TEST(true);", "BOOST_CHECK(true);")),
    ],
)
LANGUAGES: Final = {
    "python": PYTHON, "javascript": JAVASCRIPT, "typescript": JAVASCRIPT, "tsx": JAVASCRIPT, "go": GO, "java": JAVA,
    "kotlin": KOTLIN, "php": PHP, "ruby": RUBY, "rust": RUST, "csharp": CSHARP, "swift": SWIFT, "cpp": CPP,
}  # fmt: skip
