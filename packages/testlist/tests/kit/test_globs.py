"""Path patterns of configurations."""

import time

import pytest
from testlist.kit import globs

YES = [
    ("a/b/c.py", "a/**"),
    ("a/b/c.py", "**/c.py"),
    ("c.py", "**/c.py"),
    ("a/c.py", "./a/*.py"),
    ("a/x.test.ts", "**/*.{test,spec}.?(c|m)[jt]s?(x)"),
    ("a/x.spec.mjs", "**/*.{test,spec}.?(c|m)[jt]s?(x)"),
    ("spec.js", "**/?(*.)+(spec|test).[jt]s?(x)"),
    ("x.spec.tsx", "**/?(*.)+(spec|test).[jt]s?(x)"),
    ("a/b", "{a,c}/{b,d}"),
    ("a/x.py", "!(b)/x.py"),
    ("a/b/c/d", "a/**/**/d"),
]
NO = [
    ("a/b/c.py", "a/*.py"),
    ("a/c.pyc", "**/*.py"),
    ("a/x.test.json", "**/*.{test,spec}.?(c|m)[jt]s?(x)"),
    ("xspec.js", "**/?(*.)+(spec|test).[jt]s?(x)"),
    ("a/b", "a"),
    ("a", "a/b"),
]


@pytest.mark.parametrize(("path", "pattern"), YES)
def test_a_path_fits_its_pattern(path: str, pattern: str) -> None:
    assert globs.match(path, pattern)


@pytest.mark.parametrize(("path", "pattern"), NO)
def test_a_path_does_not_fit_another_pattern(path: str, pattern: str) -> None:
    assert not globs.match(path, pattern)


@pytest.mark.parametrize(
    "pattern",
    ["**/" * 60 + "b", "*a" * 60 + "b", "{a,b}" * 60, "?(a|" * 60, "[" * 500, "{" * 500, "+(a|aa)" * 60, "(((" * 99],
)
def test_no_pattern_takes_long(pattern: str) -> None:
    began = time.process_time()
    globs.match("/".join(["a" * 60] * 60), pattern)
    assert time.process_time() - began < 1
