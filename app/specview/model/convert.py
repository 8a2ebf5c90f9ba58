"""The second phase: a sentence for each test."""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.specification import Place, Subject
from app.specview.model import prompts
from app.specview.model.answers import read_sentences
from app.specview.model.calls import Calls

PlacedSubject = tuple[Place, Subject]


async def convert(
    calls: Calls, chunk: Sequence[PlacedSubject], language: str
) -> tuple[list[tuple[Subject, str]], list[PlacedSubject]]:
    """The tests of a chunk with their sentences, and those that got none.

    Sentences that do not fit are asked for again by themselves: what spoilt them may have been a neighbour.
    """
    done, left = list[tuple[Subject, str]](), list(chunk)

    async def step(attempt: int) -> bool:
        prompt = prompts.convert(left, language, again=attempt > 0)
        found = read_sentences(await calls.ask(prompt, attempt), [subject for _, subject in left], language)
        calls.useful |= bool(found)
        done.extend((left[number][1], sentence) for number, sentence in sorted(found.items()))
        left[:] = [row for number, row in enumerate(left) if number not in found]
        return not left

    await calls.until(step)
    return done, left
