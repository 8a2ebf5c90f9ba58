"""What a round has to read next, from the files that are new since the round before."""

from typing import Any

from testlist.languages.ruby.resolve_names import Names


def a_class(name: str, base: str | None = None, *body: dict[str, Any]) -> dict[str, Any]:
    return {"k": "class", "name": name, "base": base, "body": list(body)}


def test_a_base_is_unknown_until_a_file_of_a_later_round_defines_it() -> None:
    mixed = {"k": "call", "body": [{"k": "mix", "names": ["Shop::Helpers"]}]}
    facts = {"a.rb": {"items": [a_class("ATest", "Shop::Base", mixed)]}, "b.py": {"items": [a_class("Base")]}}
    names = Names()
    names.learn(facts)
    assert names.unknown() == {"Base", "Helpers"}
    facts["c.rb"] = {"items": [a_class("Shop", None, a_class("Base", "Minitest::Test"))]}
    names.learn(facts)
    assert names.unknown() == {"Helpers"}
    assert names.files == set(facts)
