"""The catalogues hold what the pages say: every message, each translated, and compiled as it is written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from babel.messages.catalog import Message

from app.web.core.languages import DEFAULT, LANGUAGES
from tools.messages import CATALOGUES, compiled, extracted, read

pytestmark = pytest.mark.rule

PATHS = sorted(CATALOGUES.glob("*/LC_MESSAGES/messages.po"))
PLACEHOLDER = re.compile(r"%(?:\((\w+)\)[a-z]|%)")


def forms(told: str | tuple[str, ...] | list[str] | None) -> list[str]:
    return [told] if isinstance(told, str) else list(told or [])


def names(text: str) -> set[str]:
    return set(PLACEHOLDER.findall(text)) - {""}


def test_every_language_but_the_first_has_a_catalogue() -> None:
    assert {path.parts[-3] for path in PATHS} == set(LANGUAGES) - {DEFAULT}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.parts[-3])
def test_a_catalogue_has_every_message_of_the_code_and_no_other(path: Path) -> None:
    assert set(read(path)._messages) == set(extracted()._messages), "run `make messages`"


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.parts[-3])
def test_every_message_is_translated_and_none_is_a_guess(path: Path) -> None:
    lacking = [message.id for message in read(path) if message.id and not all(forms(message.string) or [""])]
    assert lacking == []
    assert [message.id for message in read(path) if message.fuzzy and message.id] == []


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.parts[-3])
def test_a_translation_names_the_facts_of_its_message(path: Path) -> None:
    def differs(message: Message) -> bool:
        known = set().union(*map(names, forms(message.id)))
        return any(names(told) != known for told in forms(message.string))

    assert [message.id for message in read(path) if message.id and differs(message)] == []


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.parts[-3])
def test_the_compiled_catalogue_is_what_the_written_one_compiles_to(path: Path) -> None:
    assert path.with_suffix(".mo").read_bytes() == compiled(read(path)), "run `make messages`"
