"""The first phase: where tests belong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.domain.specification import Place, Subject
from app.specview.model import prompts
from app.specview.model.answers import read_places
from app.specview.model.calls import Calls
from app.specview.model.hostile import talks

SubjectPlaces = list[tuple[Subject, Place]]


async def classify(
    calls: Calls, chunk: Sequence[Subject], known: Iterable[Place], language: str
) -> tuple[SubjectPlaces, list[Subject]]:
    """The tests of a chunk with their places, and those that got none.

    Tests that are left out, or placed by a name of another test, are requested again, without those that were placed.
    """
    done, left = SubjectPlaces(), list(chunk)
    known_places = [place for place in known if not talks(f"{place.domain} {place.feature}")]

    async def step(attempt: int) -> bool:
        prompt = prompts.classify(left, known_places, language, again=attempt > 0)
        found = read_places(await calls.ask(prompt, attempt), left, language)
        calls.useful |= bool(found)
        done.extend((left[number], place) for number, place in sorted(found.items()))
        left[:] = [subject for number, subject in enumerate(left) if number not in found]
        return not left

    await calls.until(step)
    return done, left


class Places:
    """Names of places as they were first written, so that chunks that know nothing of each other come together."""

    def __init__(self, known: Iterable[Place]) -> None:
        self._known, self._domains = dict[tuple[str, str], Place](), dict[str, str]()
        for place in known:
            self.same(place)

    def same(self, place: Place) -> Place:
        """The place of this name, which is a new one if there was none."""
        domain = self._domains.setdefault(place.domain.casefold(), place.domain)
        return self._known.setdefault(_key(place), Place(domain, place.feature))

    def all(self) -> list[Place]:
        """List the places in the order in which they came."""
        return list(self._known.values())


def _key(place: Place) -> tuple[str, str]:
    return place.domain.casefold(), place.feature.casefold()
