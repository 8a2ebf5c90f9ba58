"""What tests in C# check, by their source alone."""

from typing import Any

import pytest
from testlist_harness.checks import Read, only

PROJECT = '<Project Sdk="Microsoft.NET.Sdk"><ItemGroup><PackageReference Include="{}" /></ItemGroup></Project>'
SPACES = {"xunit": "Xunit", "NUnit": "NUnit.Framework", "MSTest": "Microsoft.VisualStudio.TestTools.UnitTesting"}


def written(package: str, mark: str, body: str, *, beside: str = "", bases: str = "") -> dict[str, str]:
    """A class with one test, which begins on line 7."""
    kind = "[TestClass]" if package == "MSTest" else ""
    head = f"using {SPACES[package]};\n{kind}\npublic class ATest{bases}\n{{\n"
    source = f"{head}{mark}\npublic void A()\n{{\n{body}\n}}\n{beside}\n}}\n"
    return {"a.Tests/a.Tests.csproj": PROJECT.format(package), "a.Tests/ATest.cs": source}


def xunit(body: str, *, mark: str = "[Fact]", beside: str = "", bases: str = "") -> dict[str, str]:
    return written("xunit", mark, body, beside=beside, bases=bases)


def renamed(old: str, new: str, body: str = "") -> dict[str, str]:
    """A test of xUnit of whose file a part is another."""
    return {path: text.replace(old, new, 1) for path, text in xunit(body).items()}


def nunit(body: str) -> dict[str, str]:
    return written("NUnit", "[Test]", body)


def mstest(body: str, *, mark: str = "[TestMethod]") -> dict[str, str]:
    return written("MSTest", mark, body)


@pytest.mark.parametrize(
    ("files", "check"),
    [
        (xunit("Assert.Equal(3, got);"), {"relation": "equal", "subject": "got", "expected": "3", "value": 3}),
        (xunit("Xunit.Assert.NotEqual<int>(actual: got, expected: 3);"),
         {"relation": "equal", "negated": True, "subject": "got", "expected": "3", "value": 3}),
        (xunit("Assert.Equal(0.3, got, 2);"),
         {"relation": "approximate", "subject": "got", "expected": "0.3", "tolerance": "2"}),
        (xunit('Assert.Contains("x", got);'),
         {"relation": "contains", "subject": "got", "expected": '"x"', "value": "x"}),
        (xunit("Assert.DoesNotContain(got, one => one.Ok);"),
         {"relation": "contains", "negated": True, "subject": "got", "expected": "one => one.Ok"}),
        (xunit("var a = Assert.IsType<Cart>(got);"), {"relation": "type", "subject": "got", "expected": "Cart"}),
        (xunit("Assert.IsAssignableFrom(typeof(Cart), got);"),
         {"relation": "type", "subject": "got", "expected": "Cart"}),
        (xunit("var e = await Assert.ThrowsAsync<E>(async () => await F());"),
         {"relation": "raises", "subject": "async () => await F()", "expected": "E"}),
        (xunit("Assert.All(all, one => Assert.NotNull(one));"),
         {"relation": "none", "negated": True, "subject": "one"}),
        (xunit("Assert.All(all, Assert.NotNull);"),
         {"relation": "custom", "subject": "all", "expected": "Assert.NotNull"}),
        (xunit("Assert.Fail();"), {"relation": "fails"}),
        (xunit("foreach (var one in all) Assert.False(one.Ok);"),
         {"relation": "truthy", "negated": True, "subject": "one.Ok"}),
        (xunit("void Local() { Assert.Null(got); }"), {"relation": "none", "subject": "got", "nested": True}),
        (xunit("cart.AssertValid(3);"), {"relation": "custom", "subject": "cart", "expected": "3", "value": 3}),
        (mstest("Assert.AreEqual(1.5, got, 0.1);"),
         {"relation": "approximate", "subject": "got", "expected": "1.5", "tolerance": "0.1"}),
        (mstest("Assert.IsInstanceOfType(got, typeof(Cart));"),
         {"relation": "type", "subject": "got", "expected": "Cart"}),
        (mstest('StringAssert.StartsWith(got, "x");'),
         {"relation": "starts_with", "subject": "got", "expected": '"x"', "value": "x"}),
        (mstest("CollectionAssert.Contains(all, one);"),
         {"relation": "contains", "subject": "all", "expected": "one"}),
        (mstest("F();", mark="[TestMethod, ExpectedException(typeof(E))]"), {"relation": "raises", "expected": "E"}),
        (nunit('StringAssert.Contains("x", got);'),
         {"relation": "contains", "subject": "got", "expected": '"x"', "value": "x"}),
        (nunit("ClassicAssert.Greater(got, 3);"),
         {"relation": "greater", "subject": "got", "expected": "3", "value": 3}),
        (nunit('ExceptionAssert.Throws<E>(() => F(), "gone");'),
         {"relation": "raises", "subject": "() => F()", "expected": "E"}),
    ],
)  # fmt: skip
def test_a_call_of_a_class_of_checks_is_read_as(read: Read, files: dict[str, str], check: dict[str, Any]) -> None:
    found = read(files)
    assert only(found) == [check]
    assert [one.cannot_fail for one in found.values() if one] == [None]


@pytest.mark.parametrize(
    ("given", "checks"),
    [
        ("got == 3", [{"relation": "truthy", "subject": "got == 3"}]),
        ('ok, $"no {a}"', [{"relation": "truthy", "subject": "ok"}]),
        ('got, Is.EqualTo(3), "no"', [{"relation": "equal", "subject": "got", "expected": "3", "value": 3}]),
        ("got, Is.Not.EqualTo(3).And.Not.Null",
         [{"relation": "equal", "negated": True, "subject": "got", "expected": "3", "value": 3},
          {"relation": "none", "negated": True, "subject": "got"}]),
        ("got, Is.EqualTo(a).Within(0.1).Percent",
         [{"relation": "approximate", "subject": "got", "expected": "a", "tolerance": "0.1"}]),
        ("got, Is.False", [{"relation": "truthy", "negated": True, "subject": "got"}]),
        ("got, Has.Count.EqualTo(2)", [{"relation": "length", "subject": "got", "expected": "2", "value": 2}]),
        ("got, Has.Exactly(2).Items", [{"relation": "length", "subject": "got", "expected": "2", "value": 2}]),
        ('got, Has.Property("Name").EqualTo(a)', [{"relation": "equal", "subject": "got.Name", "expected": "a"}]),
        ("got, Has.None.EqualTo(a)",
         [{"relation": "contains", "negated": True, "subject": "got", "expected": "a"}]),
        ("got, Does.Not.Contain(a)", [{"relation": "contains", "negated": True, "subject": "got", "expected": "a"}]),
        ("got, Is.InstanceOf<Cart>()", [{"relation": "type", "subject": "got", "expected": "Cart"}]),
        ("got, Is.Null.Or.Empty", [{"relation": "custom", "subject": "got", "expected": "Is.Null.Or.Empty"}]),
        ("got, Is.All.Null", [{"relation": "custom", "subject": "got", "expected": "Is.All.Null"}]),
        ("got, Has.Some.Matches(a)",
         [{"relation": "custom", "subject": "got", "expected": "Has.Some.Matches(a)"}]),
        ("got, !Is.Null", [{"relation": "custom", "subject": "got", "expected": "!Is.Null"}]),
        ('F, Throws.TypeOf<E>().With.Message.EqualTo("x")',
         [{"relation": "raises", "subject": "F", "expected": "E", "message": '"x"'}]),
        ("F, Throws.ArgumentNullException",
         [{"relation": "raises", "subject": "F", "expected": "ArgumentNullException"}]),
        ("F, Throws.Nothing", [{"relation": "raises", "negated": True, "subject": "F"}]),
    ],
)  # fmt: skip
def test_a_constraint_of_nunit_is_read_as(read: Read, given: str, checks: list[dict[str, Any]]) -> None:
    assert only(read(nunit(f"Assert.That({given});"))) == checks


@pytest.mark.parametrize(
    ("statement", "checks"),
    [
        ('got.Should().Be(3).And.NotBeNull("because");',
         [{"relation": "equal", "subject": "got", "expected": "3", "value": 3},
          {"relation": "none", "negated": True, "subject": "got"}]),
        ('act.Should().Throw<E>().WithMessage("x");',
         [{"relation": "raises", "subject": "act", "expected": "E", "message": '"x"'}]),
        ("got.Should().BeOfType<Cart>().Which.Name.Should().BeFalse();",
         [{"relation": "type", "subject": "got", "expected": "Cart"},
          {"relation": "truthy", "negated": True, "subject": "got.Should().BeOfType<Cart>().Which.Name"}]),
        ("got?.Cart.Should().BeApproximately(a, 0.1);",
         [{"relation": "approximate", "subject": "got?.Cart", "expected": "a", "tolerance": "0.1"}]),
        ("got.ShouldBe(3);", [{"relation": "equal", "subject": "got", "expected": "3", "value": 3}]),
        ("got.ShouldNotBeEmpty();", [{"relation": "empty", "negated": True, "subject": "got"}]),
        ("got.ShouldBeTrue();", [{"relation": "truthy", "subject": "got"}]),
        ("Should.Throw<E>(() => F()).Code.ShouldBe(5);",
         [{"relation": "raises", "subject": "() => F()", "expected": "E"},
          {"relation": "equal", "subject": "Should.Throw<E>(() => F()).Code", "expected": "5", "value": 5}]),
        ("mock.Verify(one => one.Pay(5), Times.Once);",
         [{"relation": "called", "subject": "mock", "expected": "one => one.Pay(5)"}]),
        ("mock.Verify(one => one.Pay(5), Times.Never());",
         [{"relation": "called", "negated": True, "subject": "mock", "expected": "one => one.Pay(5)"}]),
        ("await shop.Received(1).Pay(5);",
         [{"relation": "called_with", "subject": "shop", "expected": "5", "value": 5}]),
        ("shop.DidNotReceive().Close();",
         [{"relation": "called", "negated": True, "subject": "shop", "expected": "Close"}]),
        ("A.CallTo(() => shop.Pay(5)).MustHaveHappenedOnceExactly();",
         [{"relation": "called", "subject": "() => shop.Pay(5)"}]),
        ("rule.ShouldIgnore(a); key.Verify(a, b); got.Should();", []),
    ],
)  # fmt: skip
def test_a_chain_is_read_as(read: Read, statement: str, checks: list[dict[str, Any]]) -> None:
    assert only(read(xunit(statement))) == checks


def test_methods_that_a_test_calls_count_with_it(read: Read) -> None:
    beside = (
        "void AssertCart(int a) => Assert.Null(a);\nstatic class Other { public static void Same() { Assert.Fail(); } }"
    )
    [found] = read(xunit("AssertCart(1); this.AssertCart(2); Unknown();", beside=beside)).values()
    assert found is not None
    assert [(one["by"], one["relation"], one["line"]) for one in found.checks] == [("self.AssertCart", "none", 10)]


def test_a_statement_that_the_grammar_does_not_read_costs_no_other_test(read: Read) -> None:
    beside = "#if NET\n[Fact] public void B() { a = b ?? ][ (; }\n#endif\n[Fact] public void C() => Assert.True(a);"
    found = read(xunit("\nAssert.Null(a);", beside=beside))
    lines = {name: [(one["line"], one["relation"]) for one in found[name].checks] for name in "AC" if found[name]}
    assert lines == {"A": [(9, "none")], "C": [(14, "truthy")]}


@pytest.mark.parametrize(
    ("files", "why"),
    [
        (xunit("// nothing"), "empty"),
        (xunit("", mark='[Fact, Trait("a", "b")]'), "empty"),
        (xunit("Assert.True(true); Assert.Equal(1, 1);"), "constant"),
        (xunit("Assert.True(false);"), None),
        (xunit("Assert.True(true); F();"), None),
        (xunit("", mark="[Fact(Timeout = 5)]"), None),
        (xunit("", mark="[Fact, Retry]"), None),
        (xunit("", bases=" : Base"), None),
        (xunit("", beside="private Shop shop = new Shop();"), None),
        (mstest("", mark="[TestMethod, ExpectedException(typeof(E))]"), None),
        (xunit("Assert.True(true, F());"), None),
        (xunit('Assert.True(true, $"{F()}");'), None),
        (xunit("Assert.Equal(1, 1, (a, b) => false);"), None),
        (xunit('Assert.Equal("a  b", "a b");'), None),
        (xunit("Shop.Assert.True(true);"), None),
        (xunit("Assert.True(true);", beside="static class Assert { }"), None),
        (renamed("using Xunit;", "using Xunit; using Assert = Shop.Assert;", "Assert.True(true);"), None),
        (renamed("using Xunit;", "using Xunit; [assembly: AssemblyFixture(typeof(Db))]"), None),
        (renamed("public class", "public class B : ATest { public B() { F(); } }\npublic abstract class"), None),
        (xunit("", beside="[Before(Test)] public void Prepare() { F(); }"), None),
        (renamed("public class", "class Hooks { [AfterEvery(Test)] public static void G() { } }\npublic class"), None),
        (renamed("public class", "[TestFixture(3)] public class"), None),
        (renamed("public class", "[TestFixture] public class"), "empty"),
    ],
)
def test_only_an_empty_or_constant_test_that_nothing_runs_around_is_accused(
    read: Read, files: dict[str, str], why: str | None
) -> None:
    assert [one.cannot_fail for one in read(files).values() if one] == [why]


def test_a_deep_file_is_read_without_an_exception(read: Read) -> None:
    deep = f"{'F(' * 1500}1{')' * 1500}; a{'.B()' * 1500};"
    assert only(read(xunit(f"Assert.Null(a); {deep}"))) == [{"relation": "none", "subject": "a"}]
