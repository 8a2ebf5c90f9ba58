"""Korean particles, chosen by the sound that the word before them ends in."""

from __future__ import annotations

from app.specview.listed import listed

#: after a consonant, after a vowel
PAIRS = {"을": ("을", "를"), "이": ("이", "가"), "은": ("은", "는"), "과": ("과", "와"), "으로": ("으로", "로")}
_SIGNS = "`'\"”\u2019)]}>.,!?:;… "
#: 영 일 이 삼 사 오 육 칠 팔 구
_DIGITS = (True, True, False, True, False, False, True, True, True, False)
#: letters read by their names: L 엘, M 엠, N 엔, R 알
_LETTERS = frozenset("lmnr")
_CLOSED_ENDINGS = ("l", "m", "n", "ng", "le", "me", "ne", "ck", "p", "b")
_OPEN_ENDINGS = tuple(
    sorted(
        listed("""
a i o u y r er or s x z d st nt rt ct pt lt de ve se ze ce re ge f sh ch th ie ee ue w
""")
    )
)


def with_particle(text: str, particle: str) -> str:
    """Text and its particle.  particle: the form after a consonant, a key of PAIRS; both where unsure."""
    closed, open_ = PAIRS[particle]
    ends = _closed(text, liquid_is_open=particle == "으로")
    if ends is None:
        return f"{text}(으)로" if particle == "으로" else f"{text}{closed}({open_})"
    return text + (closed if ends else open_)


def _closed(text: str, *, liquid_is_open: bool) -> bool | None:
    """Whether a word ends in a consonant in Korean; None for a foreign word with two pronunciations."""
    word = text.rstrip(_SIGNS)
    if not word:
        return None
    last = word[-1]
    if "가" <= last <= "힣":
        final = (ord(last) - ord("가")) % 28
        return final != 0 and not (liquid_is_open and final == 8)
    if last.isascii() and last.isdigit():
        return False if liquid_is_open and last in "178" else _DIGITS[int(last)]
    if not (last.isascii() and last.isalpha()):
        return None
    tail = word.split()[-1]
    run = tail[len(tail.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")) :]
    if len(run) > 1 or len(tail) == 1:
        return False if liquid_is_open and last in "LRlr" else last.lower() in _LETTERS
    return _foreign(word.lower(), liquid_is_open=liquid_is_open)


def _foreign(word: str, *, liquid_is_open: bool) -> bool | None:
    if liquid_is_open and word.endswith(("l", "le")):
        return False
    if word.endswith(_CLOSED_ENDINGS) and not word.endswith(("some", "the")):
        return True
    if word.endswith(_OPEN_ENDINGS):
        return False
    return None
