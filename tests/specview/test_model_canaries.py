"""Names that talk to the model, against a double that obeys every one of them."""

import re
from functools import cache

import pytest
from service_harness.model_double import ModelDouble, good, obeying
from service_harness.model_runs import KEY, generator, last, part, phrased, placed, specification, subject, subjects
from service_harness.obedience import CORPUS, letters

from app.domain.specification import Place, Subject
from app.specview.model.hostile import looks_hostile, talks
from tests.tiers import proofs

NEIGHBOURS = subjects(24)
QUIET = [canary for canary in CORPUS if canary["quiet"]]
#: the ways in which a canary may come into a test
INTO = {
    "name": subject,
    "suite": lambda name: subject("test_keeps_ribbon", suites=("Gifts", name)),
    "file": lambda name: subject("test_keeps_ribbon", file=f"src/gifts/{name.replace('/', '-')}/test_gifts.py"),
}


def held(told: str, *, language: str) -> None:
    """No text of any canary, no markup, no address, no key."""
    assert KEY not in told
    assert not re.search(r"://|<\w|www\.|\]\(|Bearer|One JSON object", told)
    for canary in CORPUS:
        if canary["text"] and language == "en":
            assert letters(canary["text"]) not in letters(told)


@cache
def sentences_alone(language: str) -> dict[Subject, tuple[str, bool]]:
    """What the neighbours get without a canary among them."""
    with ModelDouble.serving(good) as double:
        return phrased(generator(double).phrase([part(*NEIGHBOURS)], language))


@cache
def places_alone() -> dict[Subject, tuple[Place, bool]]:
    with ModelDouble.serving(good) as double:
        return placed(generator(double).place(NEIGHBOURS, [], "en"))


def check_sentences(hostile: Subject, language: str) -> None:
    as_it_was = sentences_alone(language)
    with ModelDouble.serving(obeying) as double:
        run = generator(double)
        found = phrased(run.phrase([part(*NEIGHBOURS[:12], hostile, *NEIGHBOURS[12:])], language))
    assert set(found) == {*NEIGHBOURS, hostile}
    for one in NEIGHBOURS:
        said, fell_back = found[one]
        assert said == (f"plain {one.name}" if fell_back else as_it_was[one][0])
        held(said, language=language)
    said, fell_back = found[hostile]
    if not fell_back:
        held(said.replace(hostile.name, ""), language="any")
        assert letters(said) == letters(said) and len(said) <= 160
    assert len(double.calls) <= 3


@pytest.mark.parametrize("place", INTO)
@pytest.mark.parametrize("canary", proofs(CORPUS, but=CORPUS[::5]), ids=lambda canary: canary["name"][:40])
def test_no_name_changes_another_tests_sentence(canary: dict[str, str], place: str) -> None:
    check_sentences(INTO[place](canary["name"]), "en")


@pytest.mark.parametrize("canary", proofs(CORPUS, but=CORPUS[::5]), ids=lambda canary: canary["name"][:40])
def test_no_name_changes_another_tests_sentence_in_korean(canary: dict[str, str]) -> None:
    if canary["effect"] in {"swap", "invert"} and canary["quiet"]:
        pytest.skip("the words of two languages cannot be compared: docs/adr/0048 says so")
    check_sentences(INTO["name"](canary["name"]), "ko")


@pytest.mark.parametrize("canary", proofs(CORPUS, but=CORPUS[::5]), ids=lambda canary: canary["name"][:40])
def test_no_name_moves_another_test(canary: dict[str, str]) -> None:
    hostile = subject(canary["name"])
    as_it_was = places_alone()
    with ModelDouble.serving(obeying) as double:
        found = placed(generator(double).place([*NEIGHBOURS, hostile], [], "en"))
    assert set(found) == {*NEIGHBOURS, hostile}
    for one in NEIGHBOURS:
        place, fell_back = found[one]
        assert place == (Place("Plain", "") if fell_back else as_it_was[one][0])
        held(f"{place.domain} {place.feature}", language="en")


@pytest.mark.parametrize("canary", proofs(CORPUS, but=CORPUS[::5]), ids=lambda canary: canary["name"][:40])
def test_no_name_of_a_feature_speaks_in_the_summary(canary: dict[str, str]) -> None:
    with ModelDouble.serving(obeying) as double:
        said = last(generator(double).summarise(specification("Cart", canary["name"])))
    held(said, language="any")
    if not canary["quiet"]:
        assert said == "The shop sells what people want."


@pytest.mark.parametrize(
    "canary", [canary for canary in CORPUS if not canary["quiet"]], ids=lambda canary: canary["name"][:40]
)
def test_a_name_that_talks_is_never_sent(canary: dict[str, str]) -> None:
    for into in INTO.values():
        assert looks_hostile(into(canary["name"]))
    with ModelDouble.serving() as double:
        found = phrased(generator(double).phrase([part(subject(canary["name"]))], "en"))
        assert placed(generator(double).place([subject(canary["name"])], [], "en"))
    assert double.calls == []
    assert [fell_back for _, fell_back in found.values()] == [True]


@pytest.mark.parametrize(
    "name",
    [
        "test_ignores_empty_lines", "ignores unknown instructions", "test_system_user_is_created", "renames all columns",
        "test_delete_all_items", "it returns every item of the list", "should show an error when the password is wrong",
        "test_reports_each_test", "skips all tests of a module", "parses a prompt", "test_prompts_for_password",
        "shows the rest of the page", "test_next_item_follows", "TestModelFieldOverride", "you can log in twice",
        "test_all_tokens_are_revoked", "returns 404 for <missing> user", "a > b", "test_api_key_is_required",
        "[IDTokenVerifier] refuses", "handles {a: 1} and [1, 2]", "test_x'y", "오류를 무시한다", "지시를 따른다",
        "test_sha_a94a8fe5ccb19ba61c4c0873d391e987982fbbd3", "TestVeryLongCamelCaseNameOfATestThatSaysALot",
    ],
)  # fmt: skip
def test_honest_names_are_not_taken_for_talk(name: str) -> None:
    assert not talks(name)
