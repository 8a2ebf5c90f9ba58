"""The domain and feature of a test, from its own path, suites and name alone, so that no other test can move it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from app.domain.specification import UNGROUPED, Place, Subject
from app.specview.listed import listed
from app.specview.topics import DOMAIN_ROOTS, KOREAN, MEANINGS, NOISE_FOLDERS, NOISE_STEMS, TOPICS
from app.specview.words import clean, is_identifier, split_identifier

#: a longer name of a place is cut; it is a heading
LONGEST_HEADING = 80
_TEST_WORDS = listed("test tests spec specs testcase it e2e unittest suite cy")


def placed(subjects: Sequence[Subject], known: Sequence[Place], language: str) -> list[tuple[Subject, Place]]:
    """Each test with its place.  known: most used first; one with the same meaning is taken rather than a new one."""
    own = {place: place for place in known}
    by_feature: dict[str, Place] = {}
    by_domain: dict[str, str] = {}
    for place in known:
        by_domain.setdefault(_key(place.domain), place.domain)
        if place.feature:
            by_feature.setdefault(f"{_key(place.domain)}\0{_key(place.feature)}", place)
    found: list[tuple[Subject, Place]] = []
    for subject in subjects:
        place = place_of(subject, language)
        if place not in own:
            domain = by_domain.get(_key(place.domain), place.domain)
            feature = f"{_key(domain)}\0{_key(place.feature)}"
            own[place] = by_feature.get(feature) or Place(domain, place.feature)
        found.append((subject, own[place]))
    return found


def _key(heading: str) -> str:
    """One key for headings that differ in case, number and signs only."""
    words = re.findall(r"\w+", heading.casefold())
    return " ".join(word.rstrip("s") if len(word) > 3 else word for word in words)


def place_of(subject: Subject, language: str) -> Place:
    """Find the place of a test by its folders and file; then by its outermost suite, or by a topic in its name."""
    folders, stem = _path(subject.file)
    suites = [heading for suite in subject.suites if (heading := _suite(suite))]
    if folders:
        domain = " / ".join(_human(folder) for folder in folders)
        feature = _human(stem) if stem else (suites[0] if suites else _topic(subject.name, language))
    elif stem:
        domain = _human(stem)
        further = [heading for heading in suites if _key(heading) != _key(domain)]
        feature = further[0] if further else _topic(subject.name, language)
    else:
        domain = suites[0] if suites else _topic(subject.name, language)
        feature = suites[1] if len(suites) > 1 else UNGROUPED
    if domain == UNGROUPED:
        feature = UNGROUPED
    return Place(_in_language(domain, language), _in_language(feature, language))


@lru_cache(4096)
def _path(file: str) -> tuple[tuple[str, ...], str]:
    """The folders that mean something, the last two, and the file's own name without what marks a test."""
    path = PurePosixPath(clean(file))
    folders = [part for part in path.parent.parts if part.strip("/") and part.lower() not in NOISE_FOLDERS]
    if folders and folders[0].lower() in DOMAIN_ROOTS and len(folders) > 2:
        folders = folders[2:]
    folders = [part for place, part in enumerate(folders) if place == 0 or part.lower() != folders[place - 1].lower()]
    words = split_identifier(re.split(r"\.", path.name.lstrip("."))[0].replace("-", "_"))
    while words and words[0].lower() in _TEST_WORDS:
        words = words[1:]
    while words and words[-1].lower() in _TEST_WORDS:
        words = words[:-1]
    stem = "_".join(words)
    return tuple(folders[-2:]), "" if stem.lower() in NOISE_STEMS else stem


@lru_cache(4096)
def _human(name: str) -> str:
    """`url_parsing` as `URL parsing`, `auth` as `Authentication`."""
    words = split_identifier(re.sub(r"[\W_]+", "_", name).strip("_"))
    meant = [MEANINGS.get(word.lower(), word) for word in words if not re.fullmatch(r"[\W_]*", word)]
    return _heading(" ".join(meant))


def _heading(text: str) -> str:
    text = clean(text)
    if len(text) > LONGEST_HEADING:
        text = f"{text[: LONGEST_HEADING - 1].rstrip()}…"
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first.islower() and first.isalpha() else text


@lru_cache(4096)
def _suite(suite: str) -> str:
    """A class as words, a title as it stands, without what marks a test."""
    title = clean(suite)
    if not is_identifier(title):
        return _heading(title)
    words = split_identifier(title)
    while words and words[0].lower() in _TEST_WORDS:
        words = words[1:]
    while words and words[-1].lower() in _TEST_WORDS:
        words = words[:-1]
    return _human("_".join(words)) if words else ""


def _topic(name: str, language: str) -> str:
    """The first word of a name that is a known topic."""
    title = clean(name)
    words = split_identifier(title) if is_identifier(title) else re.findall(r"\w+", title)
    for word in words:
        low = word.lower()
        found = TOPICS.get(low) or TOPICS.get(low.removesuffix("s"))
        if found:
            return found[language == "ko"]
    return UNGROUPED


def _in_language(heading: str, language: str) -> str:
    if language != "ko" or not heading:
        return heading
    return " / ".join(KOREAN.get(part.lower(), part) for part in heading.split(" / "))
