"""`python -m bench.specview.sample INVENTORY.jsonl… [--seed N] [--count N] [--language en]`: sentences to judge.

Draws the same number of tests from every inventory, by the seed alone, and prints one Markdown row each.
"""

import argparse
import random
from pathlib import Path

from app.domain.specification import UNGROUPED, Place, Subject
from app.specview.builtin import built_in
from app.specview.generator import Part
from bench.specview.inventories import subjects


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.specview.sample", description=__doc__)
    parser.add_argument("inventories", nargs="+", type=Path)
    parser.add_argument("--seed", type=int, default=15)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--language", default="en")
    given = parser.parse_args()
    print("| # | Repository | File | Suites | Name | Sentence |\n|---|---|---|---|---|---|")
    drawn = _drawn(sorted(given.inventories), given.seed, given.count)
    for number, (repository, subject, sentence) in enumerate(_phrased(drawn, given.language), 1):
        suites = " > ".join(subject.suites)
        print(
            "|",
            " | ".join(_cell(text) for text in (str(number), repository, subject.file, suites, subject.name, sentence)),
            "|",
        )


def _drawn(paths: list[Path], seed: int, count: int) -> list[tuple[str, Subject]]:
    """Every inventory gives count / len(paths) of its tests, the first ones one more where that leaves a rest."""
    chosen: list[tuple[str, Subject]] = []
    for place, path in enumerate(paths):
        share = count // len(paths) + (place < count % len(paths))
        found = sorted(subjects(path), key=lambda subject: (subject.file, subject.line, subject.suites, subject.name))
        draw = random.Random(f"{seed} {path.stem}")
        chosen += [(path.stem, subject) for subject in draw.sample(found, min(share, len(found)))]
    return chosen


def _phrased(drawn: list[tuple[str, Subject]], language: str) -> list[tuple[str, Subject, str]]:
    part = Part(Place(UNGROUPED, UNGROUPED), [subject for _, subject in drawn])
    sentences = [text for phrased in built_in().phrase([part], language) for _, text in phrased.sentences]
    return [(repository, subject, text) for (repository, subject), text in zip(drawn, sentences, strict=True)]


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    main()
