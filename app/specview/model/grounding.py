"""Check that a sentence is about its own test: it must use what is known of it, and nothing of its neighbours.

The second line against names that talk to the model (hostile.py), and the first against invention.  A sentence that
fails here is requested again, without those that passed, and in the end the fallback writes it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from app.domain.specification import Subject
from app.specview.model.presentable import presentable
from app.specview.model.prompts import LONGEST_SENTENCE
from app.specview.model.tongues import TONGUES, in_tongue, is_latin, touches
from app.specview.model.words import akin, clean, evidence, words_of

#: Share of a sentence's words of content that must be the test's own, in the language of names.
OWN_SHARE = 1 / 3
#: A word that this many tests of a call have at most tells them from the others; for sentences, also a twentieth.
MARKED_TESTS = 2
#: Words of form, which any sentence may have.
FORM = frozenset(
    re.findall(
        r"\w+",
        "a an the this that these those it its is are be been was were has have had do does did can could may"
        " might must shall should will would of in on at to from by for with into onto over under after before"
        " during while when if then else than as and or but so not no nor only also each every all any some"
        " there their they them where which who whose what how up out off via per between both either once"
        " still yet s t given without within same test tests",
    )
)
_NEGATED = frozenset(
    ["not", "no", "never", "cannot", "without", "nothing", "neither"]
    + [f"{verb}nt" for verb in ("do", "does", "did", "is", "are", "ca", "wo", "should")]
)
_NEGATIVE = re.compile(
    r"(?:not|no|none|never|cannot|without|nothing|neither|null|nil|less|zero|bad|wrong|false|t|\w+nt)$"
    r"|un(?!i|der|til)\w{3}|non\w{3}|disa|disc[ao]|inva|inco|inac|insu|impos|illeg|mism|fail|reject|refus|den[iy]|miss|empty|err|rais|throw|ignor|skip|absen|prevent"
    r"|forbid|block|except|abort|broke|exclu|revert|stop|drop|remov|delete|silent|lack|avoid|only|hid|close"
)


def grounded(sentences: Mapping[int, str], chunk: Sequence[Subject], language: str) -> dict[int, str]:
    """The sentences that may stand, cleaned.  Keys: positions in the chunk, which is what the model saw in one call."""
    rare = telling_words(chunk, most=max(MARKED_TESTS, len(chunk) // 20))
    cleaned = {number: clean(sentence, LONGEST_SENTENCE + 1) for number, sentence in sentences.items()}
    repeated = _repeated(cleaned, chunk)
    return {
        number: sentence
        for number, sentence in cleaned.items()
        if sentence not in repeated and about(sentence, chunk[number], language, rare)
    }


def telling_words(chunk: Sequence[Subject], *, most: int = MARKED_TESTS) -> frozenset[str]:
    """Words that at most `most` tests of a call have, so that they show which test a text is about."""
    tests = Counter(word for subject in chunk for word in evidence(subject))
    return frozenset(word for word, count in tests.items() if count <= most and word not in FORM)


def borrowed(text: str, subject: Subject, rare: frozenset[str]) -> bool:
    """Whether a text has a telling word of another test of its call."""
    own = evidence(subject)
    return any(word in rare and not akin(word, own) for word in words_of(text))


def about(sentence: str, subject: Subject, language: str, rare: frozenset[str] = frozenset()) -> bool:
    """Whether a sentence can be of this test.  rare: telling words of the tests of its call, its own among them."""
    own, words = evidence(subject), words_of(sentence)
    if not presentable(sentence, LONGEST_SENTENCE, own=subject.name) or len(sentence) < 3 or not words:
        return False
    foreign = [word for word in words if word not in own]
    if any(map(str.isdigit, foreign)) or borrowed(sentence, subject, rare):
        return False
    if language.startswith("en"):
        return in_tongue(foreign, language) and _made_of(words, subject) and _same_sense(words, own)
    if is_latin(language) or language not in TONGUES:
        return in_tongue(foreign, language)
    strangers = any(word.isascii() and len(word) > 1 and not akin(word, own) for word in foreign)
    return (
        not strangers and touches(sentence, language) and in_tongue([w for w in foreign if not w.isascii()], language)
    )


def _made_of(words: list[str], subject: Subject) -> bool:
    """Whether enough of it is the test's own; True for a test that is named in another script."""
    named = frozenset(word for word in words_of(" ".join([subject.name, *subject.suites])) if word not in FORM)
    if not any(word.isascii() and word.isalpha() and len(word) > 2 for word in named):
        if any(not word.isascii() for word in named):
            return True
        named = evidence(subject)  # of a number: what its file is about
    content = [word for word in words if word not in FORM]
    own = sum(akin(word, evidence(subject)) for word in content)
    return any(akin(word, named) for word in content) and own >= OWN_SHARE * len(content)


def _same_sense(words: list[str], own: frozenset[str]) -> bool:
    """Whether a sentence and its name agree on what they negate."""
    name_denies, sentence_denies = bool(own & _NEGATED), not _NEGATED.isdisjoint(words)
    if name_denies and not sentence_denies:
        return any(map(_NEGATIVE.match, words))
    return name_denies or not sentence_denies or any(map(_NEGATIVE.match, own))


def _repeated(sentences: Mapping[int, str], chunk: Sequence[Subject]) -> set[str]:
    """Sentences that stand for tests of different names."""
    names = dict[str, set[tuple[str, ...]]]()
    for number, sentence in sentences.items():
        names.setdefault(sentence, set()).add(tuple(words_of(chunk[number].name)))
    return {sentence for sentence, of in names.items() if len(of) > 1}
