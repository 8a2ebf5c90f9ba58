"""Checks of literals where the library that they are of is the repository's own, so that they check it."""

import pytest
from testlist.languages import LANGUAGES
from testlist_harness.checks import Read

SPECS = {
    ".rspec": "--require spec_helper",
    "spec/a_spec.rb": 'RSpec.describe "eq" do\nit("a") { }\nit("b") { expect(1).to eq(1) }\nit("c") { next\nexpect(f).to eq(1) }\nend\n',
}  # fmt: skip
OWN = "rspec-expectations/lib/rspec/expectations.rb"


@pytest.mark.parametrize(
    ("path", "constant"),
    [
        (OWN, None),
        ("lib/rspec/expectations.rb", None),
        ("vendor/bundle/gems/rspec-expectations-3.0/lib/rspec/expectations.rb", "constant"),
        ("third_party/rspec/lib/rspec/expectations.rb", "constant"),
        ("lib/other/expectations.rb", "constant"),
        ("assert/assertions.go", "constant"),
    ],
)
def test_a_check_of_literals_may_fail_in_the_repository_of_its_library(
    read: Read, path: str, constant: str | None
) -> None:
    found = read({**SPECS, path: ""})
    assert {name: one and one.cannot_fail for name, one in found.items()} == {
        "a": "empty", "b": constant, "c": "unreachable",
    }  # fmt: skip


@pytest.mark.parametrize("language", [one for one in LANGUAGES if one.calls], ids=lambda one: one.name)
def test_each_language_whose_bodies_are_read_names_its_libraries_of_checks(language: object) -> None:
    assert language.libraries.checks
