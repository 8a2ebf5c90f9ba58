"""The generator that asks a model: phases, chunks, limits of a run, and how it is stopped."""

import threading
from collections import Counter

import pytest
from durable_harness.waiting import wait_for
from service_harness import model_double as answers
from service_harness.model_double import ModelDouble, good
from service_harness.model_runs import Time, generator, last, part, phrased, placed, specification, subject, subjects

from app.domain.model_calls import CallWait, Cap, Entered, Refused, Tokens
from app.domain.specification import UNGROUPED, Place
from app.specview.generator import Part
from app.specview.model.faults import FAULTS, Fault
from app.specview.model.gate import OpenGate

MANY = subjects(1300)


def test_every_test_gets_a_place_and_a_sentence_of_the_model() -> None:
    with ModelDouble.serving() as double:
        run = generator(double)
        places = placed(run.place(MANY, [], "en"))
        parts = dict[Place, list]()
        for one, (place, _) in places.items():
            parts.setdefault(place, []).append(one)
        sentences = phrased(run.phrase((Part(place, some) for place, some in parts.items()), "en"))
    assert set(places) == set(sentences) == set(MANY)
    assert not any(fell for _, fell in [*places.values(), *sentences.values()])
    assert max(double.fingerprints.values()) == 1
    assert run.meter.calls == len(double.calls)


def test_chunks_are_whole_files_and_the_first_goes_alone() -> None:
    seen = list[int]()

    def behave(call):
        seen.append(double.under_way)
        return good(call)

    with ModelDouble.serving(behave) as double:
        placed(generator(double).place(MANY, [], "en"))
    files = [{file["file"] for file in call.asked["files"]} for call in double.of("classify")]
    first, *others = [sum(len(file["tests"]) for file in call.asked["files"]) for call in double.calls]
    assert (first, sorted(others)) == (500, [300, 500])  # the others go side by side
    assert sum(map(len, files)) == len(set.union(*files))
    assert seen[0] == 1


def test_places_of_the_first_chunk_and_of_the_document_are_known_places_in_bounded_number() -> None:
    known = [
        Place(f"Domain {answers.re.sub('[0-9]', 'x', str(n))}{'abcdefghij'[n % 10]}{n // 10 * 'y'}", "Main")
        for n in range(300)
    ]
    with ModelDouble.serving() as double:
        placed(generator(double).place(MANY, known, "en"))
    first, *others = [call.asked["known"] for call in double.of("classify")]
    assert first == [[place.domain, place.feature] for place in [*known[:90], *known[-30:]]]
    assert all(len(one) == 120 for one in others)


def test_a_place_is_the_same_in_whatever_case_it_comes_back() -> None:
    def shouts(call):
        answer = good(call)
        for row in answer["places"]:
            row["domain"] = row["domain"].upper() if call.number % 2 else row["domain"]
        return answer

    with ModelDouble.serving(shouts) as double:
        found = placed(generator(double).place(MANY, [Place("area PARTAX", "main")], "en"))
    domains = Counter(place.domain for place, _ in found.values())
    assert len({domain.casefold() for domain in domains}) == len(domains)
    assert "area PARTAX" in domains


def test_what_fits_nowhere_is_ungrouped() -> None:
    with ModelDouble.serving(lambda call: {"places": [{"domain": "", "feature": "Left", "tests": [0, 1]}]}) as double:
        found = placed(generator(double).place(subjects(2), [], "en"))
    assert {place for place, _ in found.values()} == {Place(UNGROUPED, UNGROUPED)}


def test_small_parts_share_a_call_and_large_ones_are_split() -> None:
    tests = subjects(140)
    parts = [Part(Place("A", str(n)), tests[n * 4 : n * 4 + 4]) for n in range(10)] + [Part(Place("B", ""), tests[40:])]
    with ModelDouble.serving() as double:
        found = phrased(generator(double, parallel=1).phrase(parts, "en"))
    assert set(found) == set(tests)
    assert [len(call.asked["tests"]) for call in double.calls] == [50, 50, 40]


def test_calls_go_on_side_by_side_and_no_more_than_allowed() -> None:
    together = threading.Barrier(3)

    def behave(call):
        together.wait(60)
        return good(call)

    with ModelDouble.serving(behave) as double:
        found = phrased(generator(double, parallel=3).phrase([part(*subjects(300))], "en"))
    assert not any(fell for _, fell in found.values())
    assert double.most_under_way == 3


def test_parts_come_as_they_are_done_and_ask_for_no_more_than_is_needed() -> None:
    taken, tests = list[int](), subjects(2000)

    def parts():
        for n in range(40):
            taken.append(n)
            yield part(*tests[n * 50 : n * 50 + 50], place=Place("A", "B"))

    with ModelDouble.serving() as double:
        run = generator(double, parallel=2).phrase(parts(), "en")
        next(run)
        assert len(taken) <= 6
        run.close()


def test_closing_leaves_the_calls_and_the_gate_at_once() -> None:
    gate = OpenGate()

    def behave(call):
        return good(call) if call.number == 0 else answers.Raw(hang=True)

    with ModelDouble.serving(behave) as double:
        run = generator(double, gate=gate, parallel=2)
        going = run.phrase([part(*subjects(300))], "en")
        next(going)
        wait_for(lambda: len(double.calls) > 1, "a call that hangs")  # there is somebody to leave
        going.close()
        assert double.left.wait(30)  # the time-out comes after a minute
    assert gate.under_way == 0
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("model")]


def test_an_error_of_the_gate_comes_up_and_nothing_goes_on() -> None:
    class Broken(OpenGate):
        def enter(self, estimate):
            raise ConnectionError("the database is away")

    with ModelDouble.serving() as double, pytest.raises(ConnectionError, match="the database is away"):
        phrased(generator(double, gate=Broken()).phrase([part(*subjects(300))], "en"))
    assert double.calls == []


def test_what_was_given_out_is_not_asked_for_again_by_the_next_run() -> None:
    tests = subjects(400)
    with ModelDouble.serving() as stopped, ModelDouble.serving() as double:  # calls of the first run may come late
        first = {}
        going = generator(stopped, parallel=2).phrase([part(*tests)], "en")
        for _ in range(3):
            first |= phrased([next(going)])
        going.close()
        rest = phrased(generator(double).phrase([part(*[one for one in tests if one not in first])], "en"))
    assert {*first, *rest} == set(tests)
    names = [entry["name"] for call in double.calls for entry in call.asked["tests"]]
    assert not {one.name for one in first} & set(names)
    assert max(Counter(names).values()) == 1


class Shut(OpenGate):
    """Says the same to everybody."""

    def __init__(self, answer: CallWait | Refused) -> None:
        super().__init__()
        self.answer = answer

    def enter(self, estimate):
        return self.answer


def test_calls_side_by_side_wait_for_each_other_under_the_cap_instead_of_giving_up() -> None:
    with ModelDouble.serving() as double:
        run = generator(double, most_tokens=12_000, parallel=10)
        found = phrased(run.phrase([part(*subjects(250))], "en"))
    assert not any(fell for _, fell in found.values())
    assert run.meter.spent.total <= 12_000


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Refused(Cap.TOKENS_PER_DAY), Fault.TOKENS_PER_DAY), (Refused(Cap.COST_PER_DAY), Fault.COST_PER_DAY),
        (CallWait(60, outage=True), Fault.OUTAGE),
    ],
)  # fmt: skip
def test_a_gate_that_stays_shut_leaves_all_to_the_fallback(answer: CallWait | Refused, fault: Fault) -> None:
    time = Time()
    with ModelDouble.serving() as double:
        run = generator(double, gate=Shut(answer), time=time)
        found = phrased(run.phrase([part(*MANY)], "en"))
        assert last(run.summarise(specification("Cart"))) == ""
    assert {fell for _, fell in found.values()} == {True}
    assert double.calls == []
    assert run.meter.given_up == fault
    assert fault in FAULTS


def test_waiting_for_the_rate_is_no_outage() -> None:
    class Slow(OpenGate):
        asked = 0

        def enter(self, estimate):
            self.asked += 1
            return super().enter(estimate) if self.asked % 8 == 0 else CallWait(100)

    with ModelDouble.serving() as double:
        found = phrased(generator(double, gate=Slow()).phrase([part(*subjects(100))], "en"))
    assert not any(fell for _, fell in found.values())


def test_a_run_keeps_to_its_own_cap_and_the_fallback_writes_what_is_beyond() -> None:
    with ModelDouble.serving() as double:
        run = generator(double, most_tokens=6_000, parallel=1)
        found = phrased(run.phrase([part(*subjects(500))], "en"))
    assert Counter(fell for _, fell in found.values()) == {
        False: 50 * len(double.calls),
        True: 500 - 50 * len(double.calls),
    }
    assert double.calls
    assert run.meter.spent.total <= 6_000
    assert run.meter.given_up == Fault.TOKENS_PER_SPEC


def test_a_refused_key_ends_the_asking_for_the_whole_run() -> None:
    with ModelDouble.serving(answers.status(401)) as double:
        run = generator(double, parallel=1)
        phrased(run.phrase([part(*subjects(1000))], "en"))
    assert len(double.calls) == 1
    assert run.meter.given_up == Fault.NOT_ALLOWED


@pytest.mark.proof
@pytest.mark.parametrize(("behaviour", "tries"), [(answers.garbage, 3), (answers.status(400), 2)])
def test_a_model_of_no_use_is_not_asked_for_the_whole_run(behaviour, tries: int) -> None:
    with ModelDouble.serving(behaviour) as double:
        run = generator(double, parallel=1)
        found = phrased(run.phrase([part(*subjects(1500))], "en"))
    assert {fell for _, fell in found.values()} == {True}
    assert run.meter.given_up in {Fault.BAD_ANSWER, Fault.BAD_REQUEST}
    assert 10 * tries <= len(double.calls) <= 11 * tries


def test_tokens_are_those_that_the_endpoint_counts_and_else_estimated() -> None:
    gate = OpenGate()
    with ModelDouble.serving() as double:
        phrased(generator(double, gate=gate).phrase([part(*subjects(10))], "en"))
    assert gate.used.input == 100
    for usage in (None, "many", {"prompt_tokens": -5, "completion_tokens": 1}, {"prompt_tokens": 10**30}):
        gate = OpenGate()

        def behave(call, usage=usage):
            return answers.Raw(answers.completion(answers.json.dumps(good(call)), usage=usage))

        with ModelDouble.serving(behave) as double:
            phrased(generator(double, gate=gate).phrase([part(*subjects(10))], "en"))
        assert 300 < gate.used.input < 2000
        assert 50 < gate.used.output < 800


def test_each_call_ends_at_the_gate_in_one_way() -> None:
    ends = list[str]()

    class Noting(OpenGate):
        def succeeded(self, entered: Entered, used: Tokens) -> None:
            ends.append("succeeded")

        def failed(self, entered: Entered, used: Tokens) -> None:
            ends.append("failed")

        def held_back(self, entered: Entered, seconds: float) -> None:
            ends.append(f"held back {seconds:g}")

    script = [answers.status(500), answers.status(429, retry_after="7"), answers.good, answers.garbage]
    with ModelDouble.serving(script=script) as double:
        phrased(generator(double, gate=Noting(), parallel=1).phrase([part(*subjects(100))], "en"))
    assert sorted(ends) == ["failed", "held back 7", "succeeded", "succeeded", "succeeded"]


def test_korean_sentences_are_taken_and_english_ones_are_not() -> None:
    tests = subjects(20)
    with ModelDouble.serving() as double:
        assert not any(fell for _, fell in phrased(generator(double).phrase([part(*tests)], "ko")).values())

    def english(call):
        return {"sentences": [{"i": one["i"], "s": answers.sentence(one, "English")} for one in call.asked["tests"]]}

    with ModelDouble.serving(english) as double:
        assert all(fell for _, fell in phrased(generator(double).phrase([part(*tests)], "ko")).values())


def test_no_tests_are_no_calls() -> None:
    with ModelDouble.serving() as double:
        run = generator(double)
        assert (list(run.place([], [], "en")), list(run.phrase([], "en")), last(run.summarise(specification()))) == (
            [],
            [],
            "",
        )
    assert double.calls == []


def test_the_summary_is_made_of_names_alone() -> None:
    with ModelDouble.serving() as double:
        assert last(generator(double).summarise(specification("Cart", ""))) == "The shop sells what people want."
    assert double.calls[0].asked == {"domains": [{"domain": "Cart", "features": ["Sells"]}]}


def test_the_name_is_that_of_the_model_and_of_its_prompts() -> None:
    assert generator("http://127.0.0.1:1").name == "model double, prompts 1"


def test_the_same_tests_are_asked_for_in_the_same_words() -> None:
    with ModelDouble.serving() as double:
        for _ in range(2):
            phrased(generator(double).phrase([part(*subjects(30))], "en"))
    assert list(double.fingerprints.values()) == [2]


def test_a_name_is_cut_and_cleaned_before_it_is_sent() -> None:
    with ModelDouble.serving() as double:
        phrased(generator(double).phrase([part(subject("adds\n\tto   the\x00 cart", suites=("Cart " * 40,)))], "en"))
    (entry,) = double.calls[0].asked["tests"]
    assert entry["name"] == "adds to the cart"
    assert len(entry["suites"][0]) <= 80
