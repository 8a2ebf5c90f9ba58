"""Find names that read like instructions to the model: they are never sent, and the fallback writes their sentences.

A heuristic, and the first of two lines: what it misses must still keep the checks of answers (grounding.py).
"""

from __future__ import annotations

import re
import unicodedata
from base64 import b64decode
from binascii import Error as NotBase64
from functools import lru_cache

from app.domain.specification import Subject
from app.specview.model.words import words_of

#: What is longer would be cut for the model, and is an essay that no sentence could say.
LONGEST_HONEST = 240
# Letters of other scripts that look like Latin ones, and digits that stand for letters.
_ALIKE = str.maketrans("аеорсухіјѕԁԛԝһոκνορτυαβεημχ", "aeopcyxijsdqwhnkvoptuabenmx")
_DIGITS = str.maketrans("013457@$", "oieastas")
_MARKS = re.compile(
    r"://|\bwww\.|javascript:|mailto:|data:text|\]\(|```|</|<\||\|>|<!--|\{\{|\[/?inst\]|<<sys>>"
    r"|\b(system|assistant|user|developer)\s*[:>]|[}\]\"']\s*,\s*[{\[\"']|\"\s*:\s*[\"{\[]|[\"']\s*[}\]]{2}"
)
#: Signs that are not seen or turn the line.
_UNSEEN = re.compile("[\u200b\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")
_TWO_ALPHABETS = re.compile(r"\b(?=\w*[a-zA-Z])(?=\w*[\u0370-\u052f])[^\W\d_]+\b")
_PACKED = re.compile(r"[A-Za-z0-9+]{24,}={0,2}")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_OVERRIDE = _set("ignore ignoring disregard forget override overrule bypass pretend obey jailbreak")
_GUIDANCE = _set("instruction instructions prompt prompts guideline guidelines guardrails directive directives")
_BEFORE = _set("previous prior above earlier preceding before initial original")
_TOLD = _set("rules told said everything context text message messages all any")
_MODEL = _set("you your yourself assistant chatbot llm gpt chatgpt claude")
_ADDRESSED = _set("must now are shall will")
_ORDER = _set(
    "output respond reply answer print say write repeat translate rename replace call describe classify append"
    " insert include leave set put label mark swap reveal show tell leak delete skip omit move assign state claim begin"
    " end prefix add change make drop return use report convert turn start finish follow act behave sort invert negate"
)
#: Of others than the test itself, with what a list of tests is made of; "all" and "each" are in many honest names.
_OTHERS = _set("every other others everything everyone everywhere rest remaining")
_LISTED = _set("test tests item items entry entries names")
_EVERY = _OTHERS | _set("all each following next")
_WRITTEN = _set(
    "sentence sentences domain domains feature features behaviour behaviours behavior behaviors description"
    " descriptions categories summary"
)
#: Verbs of instructions to a writer; with a list, or with all but the test itself, the instruction concerns others.
_WRITER = _set(
    "say write describe classify rename label respond answer reply translate summarize summarise output called named"
    " must"
)
_REVEAL = _set("reveal leak disclose exfiltrate")
_SECRETS = _set("key keys secret secrets prompt password passwords token tokens credentials environment")
_GIVE = _set("tell show give send print")
_TURNS = re.compile(
    r"from now on|new (?:instruction|task|rule)|end of (?:the )?(?:data|input|list|tests)|as an ai\b|my instructions"
    r"|(?:do not|don.t|never) (?:follow|obey)|to the model\b|rules (?:above|before|given|are)|\bdan mode"
)
#: "All", "tests" or "sentences", and an order to write, in other languages, as stems.
_ORDERS_ABROAD = (
    ("모든", "모두", "전부", "대신", "所有", "每个", "全て", "全部", "すべて", "все", "кажд", "tod", "tout", "chaque",
     "alle", "jede"),
    ("테스트", "문장", "测试", "句", "文", "テスト", "тест", "предлож", "prueba", "frase", "phrase", "satz", "sätze",
     "test"),
    ("써라", "쓰라", "바꿔", "넣어라", "말해라", "写", "改成", "換成", "書け", "書い", "пиши", "замени", "escrib",
     "cambia", "écri", "remplac", "schreib", "ersetz"),
)  # fmt: skip
#: "Ignore" and "instruction" in other languages, as stems.
_ABROAD = (
    ("무시", "잊", "하지 마", "따르지 마", "不要遵", "忽略", "忽视", "无视",
     "無視", "忘れ", "игнорир", "забуд", "ignora", "olvida", "ignorez", "oublie",
     "ignorier", "vergiss", "تجاهل", "अनदेखा", "abaikan", "görmezden", "negeer", "zignoruj",
     "bỏ qua"),
    ("지시", "명령", "규칙", "프롬프트", "规则", "規則", "ルール", "правил",
     "regla", "règle", "regel", "指令", "指示", "提示", "命令", "инструкц",
     "указани", "instruccion", "instruções", "instruction", "consigne", "anweisung", "istruzion", "تعليمات",
     "निर्देश", "instruksi", "talimat", "instructie", "instrukcj", "chỉ dẫn", "hướng dẫn"),
)  # fmt: skip


#: Of nearly every name and path, and therefore not of a command.
_TESTING = _set("test tests")


def looks_hostile(subject: Subject) -> bool:
    """Whether anything that the model would see of a test talks to it."""
    return any(map(talks, (subject.name, *subject.suites, subject.file)))


@lru_cache(maxsize=8192)  # files and suites have many tests
def talks(text: str) -> bool:
    """Whether a name is one that only a reader like a model would take for more than a name."""
    if len(text) > LONGEST_HONEST or _disguised(text):
        return True
    plain = unicodedata.normalize("NFKC", text)
    folded = plain.casefold()
    if _MARKS.search(folded) or _TURNS.search(folded) or _packed(plain):
        return True
    if any(all(any(stem in folded for stem in stems) for stems in table) for table in (_ABROAD, _ORDERS_ABROAD)):
        return True
    words = words_of(plain.translate(_ALIKE))
    spellings = (words, _spelt(words), words_of(folded.translate(_ALIKE).translate(_DIGITS)))
    is_path = "/" in text and " " not in text
    return any(_orders(_spoken(spelling, path=is_path)) for spelling in spellings)


def _spoken(words: list[str], *, path: bool) -> set[str]:
    """Drop the words that only say that this is a test."""
    return set(words) - _TESTING if path else set(words[1:] if words[:1] == ["test"] else words)


def _orders(words: set[str]) -> bool:
    overrides = words & _OVERRIDE and (words & _GUIDANCE or (words & _BEFORE and words & _TOLD) or words & _MODEL)
    addressed = words & _MODEL and words & _ADDRESSED and words & (_ORDER | {"are"})
    commands = words & _ORDER and ((words & _OTHERS and words & _LISTED) or (words & _EVERY and words & _WRITTEN))
    written = words & _WRITER and (words & {"everything", "rest"} or (words & _EVERY and words & (_LISTED | _WRITTEN)))
    restyled = words & {"translate", "rewrite"} and words & _EVERY
    reveals = words & _REVEAL and words & _SECRETS
    prompted = words & {"system", "hidden", "initial"} and words & {"prompt", "prompts"}
    begs = words & {"me", "us"} and words & _GIVE and words & _SECRETS
    return bool(overrides or addressed or commands or written or restyled or reveals or prompted or begs)


def _disguised(text: str) -> bool:
    """Signs that are not seen, words of two alphabets."""
    if text.isascii():
        return False
    return bool(_UNSEEN.search(text)) or any(len(word) > 2 for word in _TWO_ALPHABETS.findall(text))


def _packed(text: str) -> bool:
    """Base64 of readable words."""
    for run in _PACKED.findall(text):
        try:
            words = b64decode(run + "=" * (-len(run) % 4)).decode("ascii")
        except (NotBase64, ValueError):
            continue
        if words.isprintable():
            return True
    return False


def _spelt(words: list[str]) -> list[str]:
    """Words that are spelt letter by letter, put together; no words if there are none."""
    letters = "".join(word for word in words if len(word) == 1)
    return re.findall("ignore|disregard|instructions|previous|prompt|all|every|sentences?|tests", letters)
