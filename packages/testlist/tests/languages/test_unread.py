"""What looks like a test in a language or tool that no framework here reads."""

import pytest
from testlist.languages import language_of
from testlist.languages.unread import CONVENTIONS, unread_language_of

TESTS = {
    "a/Shop.Tests.ps1": "PowerShell", "test/Shop.t.sol": "Solidity",
    "t/01-basic.t": "Perl", "tests/test_a.sh": "shell", "tests/testthat/test-a.R": "R",
    "test/runtests.jl": "Julia", "spec/shop_spec.lua": "Lua", "src/Button.stories.tsx": "stories", "a/test_x.c": "C",
    "shop_SUITE.erl": "Erlang", "test/Spec.hs": "Haskell", "shop_test.clj": "Clojure", "shop_spec.cr": "Crystal",
    "a.spec.coffee": "CoffeeScript", "ShopTests.fs": "F#", "ShopTest.vb": "Visual Basic", "test_a.zig": "Zig",
    "tests/tshop.nim": "Nim", "test_shop.ml": "OCaml", "tests/Shop.elm": "Elm", "test_shop.f90": "Fortran",
}  # fmt: skip


@pytest.mark.parametrize(("path", "language"), TESTS.items())
def test_each_convention_is_known(path: str, language: str) -> None:
    assert unread_language_of(path) == language


def test_every_language_has_its_example() -> None:
    assert set(TESTS.values()) == {*CONVENTIONS, "stories"}


@pytest.mark.parametrize(
    "path",
    ["lib/shop.ex", "lib/shop.exs", "main.c", "attest/a.c", "R/shop.R", "shop.sol", "install.sh",
     "latest.zig", "AppTests/ShopTests.m", "lib/a_test.dart", "lib/Shop.pm", ".robot", "feature", "src/Button.tsx",
     "features/login.feature", "test/cli.bats", "suites/a.robot", "src/test/scala/A.scala"],
)  # fmt: skip
def test_what_is_no_test_is_not_counted(path: str) -> None:
    assert unread_language_of(path) is None


def test_no_suffix_of_a_language_that_is_read_is_listed() -> None:
    read = {
        name
        for name, (suffixes, _) in CONVENTIONS.items()
        if any(map(language_of, map("a.{}".format, suffixes.split())))
    }
    assert read == set()
