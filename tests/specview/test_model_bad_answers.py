"""Whatever an endpoint answers: no test is lost, what it did not write fell back, and the error says why."""

import json

import pytest
from service_harness import model_double as answers
from service_harness.model_double import ModelDouble, Raw, completion, good
from service_harness.model_runs import (
    KEY,
    Time,
    generator,
    last,
    part,
    phrased,
    placed,
    specification,
    subject,
    subjects,
)
from structlog.testing import capture_logs

from app.domain.specification import Place
from app.specview.model.calls import TRIES
from app.specview.model.faults import FAULTS, Fault
from tests.tiers import few

TESTS = subjects(30)


def changed(change):
    """The good answer after a change in place."""

    def behave(call):
        answer = good(call)
        change(answer)
        return answer

    return behave


def rows(answer):
    return answer.get("sentences") or answer.get("places")


def wrong_language(call):
    if call.phase == "convert":
        return {"sentences": [{"i": one["i"], "s": "가격을 정확하게 계산한다"} for one in call.asked["tests"]]}
    return {"places": [{"domain": "가게 전체 영역", "feature": "", "tests": list(range(500))}]}


BAD = {
    "garbage": (answers.garbage, Fault.BAD_ANSWER),
    "an error page": (answers.html, Fault.NO_JSON),
    "cut off": (answers.cut, Fault.BAD_ANSWER),
    "cut off, and says so": (lambda call: Raw(completion(json.dumps(good(call)), finish="length")), Fault.CUT_OFF),
    "500": (answers.status(500), Fault.SERVER_FAILED),
    "503": (answers.status(503), Fault.SERVER_FAILED),
    "429": (answers.status(429), Fault.TOO_FAST),
    "400": (answers.status(400), Fault.BAD_REQUEST),
    "401": (answers.status(401), Fault.NOT_ALLOWED),
    "404": (answers.status(404), Fault.NOT_FOUND),
    "a redirect": (answers.status(302, location="http://127.0.0.1:1/v1"), Fault.REDIRECTED),
    "too much": (answers.too_much, Fault.TOO_LARGE),
    "compressed": (lambda call: Raw(b"\x1f\x8b", headers={"content-encoding": "gzip"}), Fault.NO_JSON),
    "no choices": (lambda call: Raw(b'{"choices": []}'), Fault.NO_JSON),
    "no text": (lambda call: Raw(b'{"choices": [{"message": {"content": null}}]}'), Fault.BAD_ANSWER),
    "a list": (lambda call: "[]", Fault.BAD_ANSWER),
    "nested beyond reason": (lambda call: "[" * 100_000, Fault.BAD_ANSWER),
    "its shell nested beyond reason": (lambda call: Raw(b'{"choices":' * 100_000), Fault.NO_JSON),
    "nothing": (lambda call: Raw(b""), Fault.NO_JSON),
    "not UTF-8": (lambda call: Raw(b'{"choices": "\xff\xfe"}'), Fault.NO_JSON),
    "other words for numbers": (
        changed(lambda answer: [row.update(i="0", tests=["0"]) for row in rows(answer)]),
        Fault.BAD_ANSWER,
    ),
    "true for numbers": (
        changed(lambda answer: [row.update(i=True, tests=[True]) for row in rows(answer)]),
        Fault.BAD_ANSWER,
    ),
    "unknown numbers": (
        changed(lambda answer: [row.update(i=-1, tests=[10**40]) for row in rows(answer)]),
        Fault.BAD_ANSWER,
    ),
    "no rows": (changed(lambda answer: rows(answer).clear()), Fault.BAD_ANSWER),
    "another language": (wrong_language, Fault.BAD_ANSWER),
    "the key": (lambda call: f"{json.dumps(good(call))} {call.headers['authorization']}", Fault.HELD_KEY),
}


@pytest.mark.parametrize("case", few(8, BAD))
def test_a_bad_answer_loses_no_sentence(case: str) -> None:
    behaviour, fault = BAD[case]
    with ModelDouble.serving(behaviour) as double:
        run = generator(double)
        found = phrased(run.phrase([part(*TESTS)], "en"))
    assert found == {one: (f"plain {one.name}", True) for one in TESTS}
    assert set(run.meter.troubles) == {fault}
    assert 1 <= len(double.calls) <= 2 * TRIES


@pytest.mark.parametrize("case", few(8, BAD))
def test_a_bad_answer_loses_no_place(case: str) -> None:
    behaviour, fault = BAD[case]
    with ModelDouble.serving(behaviour) as double:
        run = generator(double)
        found = placed(run.place(TESTS, [], "en"))
    assert found == {one: (Place("Plain", ""), True) for one in TESTS}
    assert set(run.meter.troubles) == {fault}


@pytest.mark.parametrize(
    "case",
    few(
        8,
        sorted(
            set(BAD) - {"other words for numbers", "true for numbers", "unknown numbers", "no rows", "another language"}
        ),
    ),
)
def test_a_bad_answer_leaves_the_summary_empty(case: str) -> None:
    with ModelDouble.serving(BAD[case][0]) as double:
        assert last(generator(double).summarise(specification("Cart", "Orders"))) == ""


@pytest.mark.parametrize("case", few(8, BAD))
def test_one_bad_answer_is_made_good_by_the_next(case: str) -> None:
    lasting = {Fault.NOT_ALLOWED, Fault.NOT_FOUND, Fault.REDIRECTED}
    behaviour, fault = BAD[case]
    with ModelDouble.serving(script=[behaviour]) as double:
        found = phrased(generator(double).phrase([part(*TESTS)], "en"))
    assert {fell_back for _, fell_back in found.values()} == {fault in lasting}


def test_what_hangs_is_left_at_the_time_out() -> None:
    with ModelDouble.serving(answers.hang) as double:
        run = generator(double, seconds=0.2)
        found = phrased(run.phrase([part(*TESTS)], "en"))
        assert double.left.wait(60)
    assert all(fell_back for _, fell_back in found.values())
    assert run.meter.troubles == {Fault.TIMED_OUT: TRIES}


@pytest.mark.proof
def test_what_drips_is_left_at_the_time_out_of_the_whole() -> None:
    with ModelDouble.serving(answers.drip) as double:
        run = generator(double, seconds=0.3)
        found = phrased(run.phrase([part(*TESTS)], "en"))
    assert all(fell_back for _, fell_back in found.values())
    assert run.meter.troubles == {Fault.TIMED_OUT: TRIES}


def test_an_endpoint_that_is_not_there_is_told_of() -> None:
    run = generator("http://127.0.0.1:1/v1")
    assert all(fell_back for _, fell_back in phrased(run.phrase([part(*TESTS)], "en")).values())
    assert run.meter.troubles == {Fault.UNREACHABLE: TRIES}


def test_the_pauses_grow_and_honour_what_the_endpoint_asks_for() -> None:
    time = Time()
    with ModelDouble.serving(script=[answers.status(500), answers.status(500)]) as double:
        phrased(generator(double, time=time).phrase([part(*TESTS)], "en"))
    assert time.slept == [0.75, 1.5]
    time = Time()
    with ModelDouble.serving(script=[answers.status(429, retry_after="17")]) as double:
        phrased(generator(double, time=time).phrase([part(*TESTS)], "en"))
    assert time.slept == [17.75]


def test_too_many_requests_are_tried_longer_and_a_very_long_wait_ends_the_run() -> None:
    time = Time()
    with ModelDouble.serving(script=[answers.status(429)] * 5) as double:
        found = phrased(generator(double, time=time).phrase([part(*TESTS)], "en"))
    assert not any(fell_back for _, fell_back in found.values())
    assert time.slept == [0.75, 1.5, 3, 6, 12]
    with ModelDouble.serving(answers.status(429, retry_after="3600")) as double:
        run = generator(double, time=time, parallel=1)
        found = phrased(run.phrase([part(*subjects(200))], "en"))
    assert all(fell_back for _, fell_back in found.values())
    assert len(double.calls) == 1
    assert run.meter.given_up == Fault.TOO_FAST


@pytest.mark.parametrize("header", ["soon", "-5", "nan", "inf", "1e999", "", "Fri, 99 Foo", "9" * 400])
def test_a_senseless_retry_after_is_survived(header: str) -> None:
    time = Time()
    with ModelDouble.serving(script=[answers.status(429, retry_after=header)]) as double:
        found = phrased(generator(double, time=time).phrase([part(*TESTS)], "en"))
    assert not any(fell_back for _, fell_back in found.values())
    assert sum(time.slept) <= 3601


@pytest.mark.proof
def test_an_endpoint_that_refuses_the_options_is_asked_without_them() -> None:
    def choosy(call):
        return Raw(b'{"error": "unknown field"}', 400) if "seed" in call.body else good(call)

    with ModelDouble.serving(choosy) as double:
        run = generator(double, parallel=1)
        found = phrased(run.phrase([part(*subjects(120))], "en"))
    assert not any(fell_back for _, fell_back in found.values())
    assert ["seed" in call.body for call in double.calls] == [True, False, False, False]


@pytest.mark.parametrize(
    "around", ["```json\n{}\n```", "Here it is: {} I hope it helps.", "<think>\n{{ or }}?\n</think>\n{}"]
)
def test_words_around_the_answer_are_taken_off(around: str) -> None:
    with ModelDouble.serving(lambda call: around.format(json.dumps(good(call)))) as double:
        assert not any(fell for _, fell in phrased(generator(double).phrase([part(*TESTS)], "en")).values())


def test_an_answer_that_was_cut_off_gets_more_room() -> None:
    cut_off = BAD["cut off, and says so"][0]
    with ModelDouble.serving(script=[cut_off, cut_off]) as double:
        assert not any(fell for _, fell in phrased(generator(double).phrase([part(*TESTS)], "en")).values())
    first, *others = [call.body["max_tokens"] for call in double.calls]
    assert others == [2 * first, 3 * first]


def test_left_out_and_doubled_numbers_are_asked_for_again_and_only_those() -> None:
    def leaves_out(call):
        answer = good(call)
        said = answer["sentences"]
        answer["sentences"] = [*said[2:], {"i": 2, "s": "Another one"}, {"i": 77, "s": "Nothing"}]
        return answer

    with ModelDouble.serving(script=[leaves_out]) as double:
        found = phrased(generator(double).phrase([part(*TESTS)], "en"))
    assert not any(fell for _, fell in found.values())
    assert [len(call.asked["tests"]) for call in double.calls] == [30, 3]


def test_places_that_are_left_out_are_asked_for_again_and_fall_back_in_the_end() -> None:
    def leaves_out(call):
        answer = good(call)
        for place in answer["places"]:
            place["tests"] = [number for number in place["tests"] if number > 2]
        return answer

    with ModelDouble.serving(leaves_out) as double:
        found = placed(generator(double).place(TESTS, [], "en"))
    assert [fell for _, fell in found.values()].count(True) == 3
    assert [sum(len(file["tests"]) for file in call.asked["files"]) for call in double.calls] == [30, 3, 3]


@pytest.mark.parametrize(
    "said",
    [
        "", " ", "x" * 300, "Adds <b>cart</b>", "Adds cart https://evil.example", "Adds cart at evil.com", "[cart](//x)",
        "Adds cart 7 times", "Does not add the cart", "\u0000\u0001", "Le panier est vide", "&lt;cart&gt;", "Adds cart ```",
    ],
)  # fmt: skip
def test_a_sentence_that_may_not_stand_is_not_taken(said: str) -> None:
    one = subject("test_adds_cart")
    with ModelDouble.serving(lambda call: {"sentences": [{"i": 0, "s": said}]}) as double:
        assert phrased(generator(double).phrase([part(one)], "en")) == {one: ("plain test_adds_cart", True)}


def test_signs_that_are_not_seen_are_taken_out_of_a_sentence() -> None:
    one = subject("test_adds_cart")
    with ModelDouble.serving(
        lambda call: {"sentences": [{"i": 0, "s": " Adds\n\tthe \u202ecart\u200b\x07 "}]}
    ) as double:
        assert phrased(generator(double).phrase([part(one)], "en")) == {one: ("Adds the cart", False)}


@pytest.mark.proof
def test_no_error_and_no_log_holds_the_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    for behaviour, _ in BAD.values():
        with ModelDouble.serving(behaviour) as double:
            run = generator(double)
            told = repr(run) + str(phrased(run.phrase([part(*TESTS)], "en")))
            assert KEY not in told + str(run.meter)
            assert all(call.headers["authorization"] == f"Bearer {KEY}" for call in double.calls)
            assert all(KEY not in json.dumps(call.body) for call in double.calls)
    assert KEY not in caplog.text


def test_the_operator_is_told_what_went_wrong_and_how_often() -> None:
    with ModelDouble.serving(answers.status(401)) as double, capture_logs() as told:
        run = generator(double)
        phrased(run.phrase([part(*TESTS)], "en"))
        placed(run.place(TESTS, [], "en"))
    first, *others = told
    assert first["detail"] == "the language model refused LLM_API_KEY, or has no credit for it"
    assert (first["event"], first["fault"], first["times"]) == ("model_trouble", "not_allowed", 1)
    assert [line["event"] for line in others] == ["model_given_up", "model_trouble", "model_given_up"]
    assert KEY not in str(told)


def test_every_fault_has_its_sentence() -> None:
    assert set(FAULTS) == set(Fault)


def test_a_local_model_needs_no_key() -> None:
    with ModelDouble.serving() as double:
        phrased(generator(double, key=None).phrase([part(*TESTS)], "en"))
    assert "authorization" not in double.calls[0].headers
