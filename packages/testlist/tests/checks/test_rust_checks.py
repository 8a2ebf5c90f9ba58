"""What tests in Rust check, by their source alone."""

from typing import Any

import pytest
from testlist_harness.checks import Read, only

OWN = "macro_rules! assert { ($a:expr) => { f() } }\n"


def rust(source: str) -> dict[str, str]:
    """A crate with these tests."""
    return {"Cargo.toml": "[package]\nname = 'shop'\n", "tests/a.rs": source}


@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("assert_eq!(got, 3);", {"relation": "equal", "subject": "got", "expected": "3", "value": 3}),
        ('assert_eq!(3u8, got, "of {}", a)', {"relation": "equal", "subject": "got", "expected": "3u8", "value": 3}),
        ("assert_eq!(Some(1), f::<A, B>(a));", {"relation": "equal", "subject": "f::<A, B>(a)", "expected": "Some(1)"}),
        ("assert_eq!(a, None);", {"relation": "none", "subject": "a"}),
        ("assert_eq!(a.len(), 2);", {"relation": "length", "subject": "a", "expected": "2", "value": 2}),
        ("debug_assert_ne!(a, b);", {"relation": "equal", "negated": True, "subject": "a", "expected": "b"}),
        ("assert!(a == b);", {"relation": "equal", "subject": "a", "expected": "b"}),
        ("assert!(!(a < b));", {"relation": "greater_equal", "subject": "a", "expected": "b"}),
        ('assert!(a.is_some(), "no");', {"relation": "none", "negated": True, "subject": "a"}),
        ("assert!(f(a).is_ok());", {"relation": "raises", "negated": True, "subject": "f(a)"}),
        ("assert!(!a.is_empty());", {"relation": "empty", "negated": True, "subject": "a"}),
        (
            'assert!(a.contains("x"));',
            {"relation": "contains", "subject": "a", "expected": '"x"', "value": "x"},
        ),
        ("assert!(a || b);", {"relation": "truthy", "subject": "a || b"}),
        ("assert!(Arc::ptr_eq(&a, &b));", {"relation": "identical", "subject": "&a", "expected": "&b"}),
        (
            "assert!(matches!(a, Err(E::A { .. }) if b));",
            {"relation": "matches", "subject": "a", "expected": "Err(E::A { .. }) if b"},
        ),
        ('assert_matches!(f(), Some(1 | 2), "no");', {"relation": "matches", "subject": "f()", "expected": "Some(1 | 2)"}),
        ('if a != 1 { panic!("no") }', {"relation": "equal", "subject": "a", "expected": "1", "value": 1}),
        ("if let Some(b) = a { c(b) } else { panic!() }", {"relation": "matches", "subject": "a", "expected": "Some(b)"}),
        ("let Ok(b) = a else { unreachable!() };", {"relation": "matches", "subject": "a", "expected": "Ok(b)"}),
        ("match a { Ok(b) => b, Err(_) => panic!() };", {"relation": "matches", "subject": "a", "expected": "Ok(b)"}),
        ('panic!("never")', {"relation": "fails"}),
        ("let e = f().unwrap_err();", {"relation": "raises", "subject": "f()"}),
        ("for one in a { assert!(one); }", {"relation": "truthy", "subject": "one"}),
        ("select! { b = a => { assert_eq!(b, c); } }", {"relation": "equal", "subject": "b", "expected": "c"}),
        ("with!({}, { assert_ok!(a); });", {"relation": "raises", "negated": True, "subject": "a"}),
        ("assert_some_eq!(a, b);", {"relation": "equal", "subject": "a", "expected": "b"}),
        ('assert_snapshot!("name", a);', {"relation": "snapshot", "subject": "a"}),
        (
            'insta::assert_debug_snapshot!(a, @"b");',
            {"relation": "snapshot", "subject": "a", "expected": '"b"', "value": "b"},
        ),
        ('expect![["x"]].assert_eq(&a);', {"relation": "snapshot", "subject": "&a", "expected": '[["x"]]'}),
        (
            "assert_relative_eq!(a, b, epsilon = 0.1);",
            {"relation": "approximate", "subject": "a", "expected": "b", "tolerance": "epsilon = 0.1"},
        ),
        ("expect_that!(a, not(eq(&3)));", {"relation": "equal", "negated": True, "subject": "a", "expected": "&3", "value": 3}),
        ("assert_that!(a, len(eq(2)));", {"relation": "length", "subject": "a", "expected": "2", "value": 2}),
        ("verify_that!(a, some(eq(1)))?;", {"relation": "matches", "subject": "a", "expected": "some(eq(1))"}),
        ("expect_false!(a);", {"relation": "truthy", "negated": True, "subject": "a"}),
        ("assert_same_bytes!(a, b);", {"relation": "custom", "subject": "a", "expected": "b"}),
        ("support::assert_closed(a);", {"relation": "custom", "subject": "a"}),
    ],
)  # fmt: skip
def test_a_statement_is_read_as(read: Read, statement: str, check: dict[str, Any]) -> None:
    found = read(rust(f"#[test]\nfn a() {{\n{statement}\n}}\n"))
    assert only(found) == [check]
    assert [one.cannot_fail for one in found.values() if one] == [None]


@pytest.mark.parametrize(
    "statement",
    ["f()?;", "f().unwrap();", "f().unwrap_or_else(|e| panic!());", "loop { unreachable!() }", 'println!("{}", a);',
     "match a { A => 1, B => 2, C => panic!() };", "assert_impl_all!(A: Send);"],
)  # fmt: skip
def test_what_is_no_check(read: Read, statement: str) -> None:
    assert only(read(rust(f"#[test]\nfn a() {{ {statement} }}\n"))) == []


def test_each_part_of_a_condition_is_a_check_on_its_line(read: Read) -> None:
    source = "#[test]\nfn a() {\n    assert!(\n        a == 1 && matches!(b, C)\n    );\n    g(vec![f(\n        assert_ok!(b)\n    )]);\n}\n"
    [found] = read(rust(source)).values()
    assert found is not None
    assert [(one["relation"], one["subject"], one["line"]) for one in found.checks] == [
        ("equal", "a", 3), ("matches", "b", 3), ("raises", "b", 7),
    ]  # fmt: skip


def test_a_test_that_has_to_panic_raises(read: Read) -> None:
    source = '#[test]\n#[should_panic(expected = "no")]\nfn a() { panic!("no") }\n'
    assert only(read(rust(source))) == [{"relation": "raises", "message": '"no"'}]


def test_functions_that_a_test_calls_and_tests_in_macros(read: Read) -> None:
    found = read(rust("""
fn same(a: u8) { assert_eq!(a, 1); }
#[test]
fn calls() { same(f()); println!("{}", same(2)); }
proptest! {
    #[test]
    fn holds(a in 0..3u8) {
        prop_assert!(a < 3);
    }
}
test_in!(named, |dir| {
    assert!(dir);
});
mod one { fn twice() { assert!(a); } }
mod two { fn twice() { assert!(a); } #[test] fn unsure() { twice(); } }
"""))  # fmt: skip
    assert {
        name: [(check["relation"], check["line"], check.get("by")) for check in one.checks] if one else None
        for name, one in found.items()
    } == {
        "calls": [("equal", 2, "same")], "holds": [("less", 8, None)], "named": [("truthy", 12, None)], "unsure": [],
    }  # fmt: skip


def test_what_is_tested_in_the_same_file_checks_nothing(read: Read) -> None:
    source = "fn half(a: u8) { assert!(a > 1); }\n#[cfg(test)]\nmod tests {\n#[test]\nfn a() { half(4); }\n}\n"
    [found] = read({"Cargo.toml": "[package]\nname = 'shop'\n", "src/lib.rs": source}).values()
    assert found is not None
    assert found.checks == ()


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("#[test]\nfn a() { /* nothing */ }", "empty"),
        ("#[test]\nfn a() { assert!(true); assert_eq!(1, 1); }", "constant"),
        ("#[test]\nfn a() { assert!(false); }", None),
        ('#[test]\nfn a() { assert_eq!(1, 1, "{}", f()); }', None),
        ("#[test]\n#[should_panic]\nfn a() {}", None),
        ("#[tokio::test]\nasync fn a() {}", None),
        ("#[rstest]\nfn a(b: u8) {}", None),
        ("#[before_each(f)]\nmod tests {\n#[test]\nfn a() {}\n}", None),
        ("mod tests {\n#![apply(f)]\n#[test]\nfn a() {}\n}", None),
        ("#[allow(dead_code)]\nmod tests {\n#![allow(unused)]\nuse super::*;\n#[test]\nfn a() {}\n}", "empty"),
        ("#![test_runner(f)]\n#[test]\nfn a() {}", None),
        ("use shop::test;\n#[test]\nfn a() {}", None),
        ("use shop::{Cart, check as test};\n#[test]\nfn a() {}", None),
        ("use shop::test::Cart;\n#[test]\nfn a() {}", "empty"),
        ("#[ctor::ctor]\nfn f() { g(); }\n#[test]\nfn a() {}", None),
        ("#[test]\nfn a() { shop::assert!(true); }", None),
        ("#[test]\nfn a() { std::assert!(true); debug_assert_ne!(1, 2); }", "constant"),
        (f"{OWN}#[test]\nfn a() {{ assert!(true); }}", None),
        ("use shop::assert;\n#[test]\nfn a() { assert!(true); }", None),
    ],
)
def test_only_a_test_of_which_all_is_known_is_accused(read: Read, source: str, reason: str | None) -> None:
    assert [one.cannot_fail if one else "?" for one in read(rust(source)).values()] == [reason]


def test_deep_trees_are_given_up(read: Read) -> None:
    deep = "assert!(" * 300 + "a" + ")" * 300
    [found] = read(rust(f"#[test]\nfn a() {{ {deep}; {'(' * 900}b{')' * 900}; assert_eq!(a, 1); }}")).values()
    assert found is not None
    assert found.checks[-1]["relation"] == "equal"


def test_what_macros_of_the_file_make_counts_where_they_are_used(read: Read) -> None:
    found = read(rust("""
macro_rules! same { ($a:expr, $b:expr) => { if $a != $b { panic!("no") } }; }
macro_rules! test_of {
    ($name:ident, $a:expr) => {
        #[test]
        fn $name() {
            assert_eq!(f($a), 1);
        }
    };
}
test_of!(made, "x");
#[test]
fn uses() { same!(g(), 3); }
"""))  # fmt: skip
    assert {
        name: [(one["relation"], one["subject"], one["line"], one["by"]) for one in found[name].checks] if found[name] else 0
        for name in found
    } == {"made": [("equal", "f(a)", 7, "test_of!")], "uses": [("equal", "a", 2, "same!")]}  # fmt: skip


def test_the_name_that_a_macro_is_given_may_stand_below_comments_and_attributes(read: Read) -> None:
    head = "macro_rules! test_of { ($(#[$more:meta])* $name:ident, $a:expr)"
    definition = f"{head} => {{ $(#[$more])* #[test] fn $name() {{ assert!($a); }} }}; }}\n"
    for above in ("// why", "/* why */", "/// why", "#[cfg(unix)]"):
        found = read(rust(f"{definition}test_of! {{\n{above}\nmade, {{ assert_eq!(f(), 1); }} }}\n"))
        assert {name: [one["line"] for one in checks.checks] for name, checks in found.items() if checks} == {
            "made": [4, 1]
        }, above


def test_a_stored_text_is_what_is_expected(read: Read) -> None:
    source = '#[test]\nfn a() { assert_snapshot!("b", @""); }\n'
    assert only(read(rust(source))) == [{"relation": "snapshot", "subject": '"b"', "expected": '""', "value": ""}]
