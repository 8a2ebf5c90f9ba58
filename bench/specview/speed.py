"""`python -m bench.specview.speed INVENTORY.jsonl… [--tests 28000]`: how long the built-in generator takes.

The inventories are repeated, in folders of their own so that no path is met twice, until there are as many tests as
asked for.  One thread places, phrases and summarises all of them, in each language.  The last line is JSON.
"""

import argparse
import itertools
import json
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from app.domain.specification import Behaviour, Domain, Feature, Place, Specification, Subject
from app.specview.builtin import LANGUAGES, built_in
from app.specview.generator import Part
from bench.specview.inventories import subjects


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.specview.speed", description=__doc__)
    parser.add_argument("inventories", nargs="+", type=Path)
    parser.add_argument("--tests", type=int, default=28_000)
    given = parser.parse_args()
    tests = _repeated([subject for path in sorted(given.inventories) for subject in subjects(path)], given.tests)
    print(json.dumps({"tests": len(tests)} | {code: _seconds(tests, code) for code in LANGUAGES}))


def _repeated(tests: list[Subject], count: int) -> list[Subject]:
    turns = (replace(test, file=f"part{turn}/{test.file}") for turn in itertools.count() for test in tests)
    return list(itertools.islice(turns, count))


def _seconds(tests: list[Subject], language: str) -> dict[str, float]:
    generator = built_in()
    began = time.perf_counter()
    of_place: dict[Place, list[Subject]] = defaultdict(list)
    for placed in generator.place(tests, [], language):
        for subject, place in placed.places:
            of_place[place].append(subject)
    at_places = time.perf_counter()
    domains: dict[str, list[Feature]] = defaultdict(list)
    for place, members in of_place.items():
        told = [pair for done in generator.phrase([Part(place, members)], language) for pair in done.sentences]
        domains[place.domain].append(Feature(place.feature, [Behaviour(*pair) for pair in told]))
    at_sentences = time.perf_counter()
    generator.summarise(Specification(language, "", [Domain(name, made) for name, made in domains.items()]))
    ended = time.perf_counter()
    steps = {"place": at_places - began, "phrase": at_sentences - at_places, "summarise": ended - at_sentences}
    return {name: round(took, 3) for name, took in steps.items()} | {"all": round(ended - began, 3)}


if __name__ == "__main__":
    main()
