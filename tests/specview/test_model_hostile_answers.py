"""Any answer at all: each test comes back once, and what stands on the page is presentable."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from service_harness.model_runs import subject, subjects

from app.specview.model.answers import read_places, read_sentences, read_summary
from app.specview.model.faults import CallFailed
from app.specview.model.hostile import talks
from app.specview.model.prompts import LONGEST_PLACE, LONGEST_SENTENCE, LONGEST_SUMMARY
from app.specview.model.words import clean, words_of

CHUNK = subjects(5)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30)
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["places", "domain", "feature", "tests", "sentences", "i", "s", "summary", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)
SAID = st.text(max_size=200) | st.sampled_from([one.name for one in CHUNK]).map(lambda name: name.replace("_", " "))
SENTENCES = st.fixed_dictionaries(
    {"sentences": st.lists(st.fixed_dictionaries({"i": st.integers(-2, 7) | LEAVES, "s": SAID | LEAVES}), max_size=8)}
)
PLACES = st.fixed_dictionaries(
    {
        "places": st.lists(
            st.fixed_dictionaries(
                {"domain": SAID | LEAVES, "feature": SAID, "tests": st.lists(st.integers(-2, 7) | LEAVES)}
            ),
            max_size=5,
        )
    }
)
LANGUAGES = st.sampled_from(["en", "ko", "de", "ja", "ar", "tlh", ""])


def _shown(text: str) -> bool:
    """Printable but for the joiners that scripts need inside of words."""
    return text.replace("\u200c", "").replace("\u200d", "").isprintable()


@pytest.mark.proof
@given(st.one_of(JSON, SENTENCES).map(json.dumps) | st.text(), LANGUAGES)
@settings(max_examples=300)
def test_sentences_are_of_known_tests_and_presentable(text: str, language: str) -> None:
    try:
        found = read_sentences(text, CHUNK, language)
    except CallFailed:
        return
    assert set(found) <= set(range(len(CHUNK)))
    for said in found.values():
        assert 3 <= len(said) <= LONGEST_SENTENCE
        assert _shown(said)
        assert "://" not in said and "<" not in said


@pytest.mark.proof
@given(st.one_of(JSON, PLACES).map(json.dumps) | st.text(), LANGUAGES)
@settings(max_examples=300)
def test_places_are_of_known_tests_and_presentable(text: str, language: str) -> None:
    try:
        found = read_places(text, CHUNK, language)
    except CallFailed:
        return
    assert set(found) <= set(range(len(CHUNK)))
    for place in found.values():
        assert len(place.domain) <= LONGEST_PLACE >= len(place.feature)
        assert _shown(f"{place.domain}{place.feature}")
        assert place.domain or not place.feature


@given(JSON.map(json.dumps) | st.fixed_dictionaries({"summary": st.text()}).map(json.dumps), LANGUAGES)
def test_a_summary_is_presentable(text: str, language: str) -> None:
    try:
        said = read_summary(text, language)
    except CallFailed:
        return
    assert 0 < len(said) <= LONGEST_SUMMARY
    assert _shown(said)


@given(st.text())
def test_any_text_is_cleaned_split_and_judged(text: str) -> None:
    line = clean(text, 40)
    assert len(line) <= 40
    assert _shown(line)
    assert all(words_of(line))
    assert talks(text) in {True, False}
    assert line == clean(line, 40)


@given(st.text(max_size=300), st.text(max_size=100))
def test_an_answer_that_repeats_any_name_never_fails(name: str, suite: str) -> None:
    chunk = [subject(name, suites=(suite,)), *CHUNK]
    answer = {"sentences": [{"i": number, "s": f"{one.name} {suite}"} for number, one in enumerate(chunk)]}
    read_sentences(json.dumps(answer), chunk, "en")
