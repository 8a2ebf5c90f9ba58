"""How a reader that obeys every name of the corpus would spoil a good answer."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

CORPUS = json.loads((Path(__file__).parent / "canaries.json").read_text(encoding="utf-8"))


@cache  # of the corpus they are asked for with every sentence
def letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [one for part in value.values() for one in _strings(part)]
    return [one for part in value for one in _strings(part)] if isinstance(value, list) else []


def heard(asked: dict[str, Any]) -> list[dict[str, str]]:
    """The canaries that a request holds, however they were cut."""
    plain = " ".join(_strings(asked))
    told = letters(plain)
    return [
        canary
        for canary in CORPUS
        if canary["name"] in plain or (len(letters(canary["name"])) > 6 and letters(canary["name"])[:60] in told)
    ]


def obey(call: Any, answer: dict[str, Any]) -> dict[str, Any]:
    for canary in heard(call.asked):
        answer = EFFECTS[canary["effect"]](call, answer, canary["text"])
    return answer


def _sentences(answer: dict[str, Any], change: Any) -> dict[str, Any]:
    rows = answer.get("sentences", [])
    for at, row in enumerate(rows):
        row["s"] = change(at, row["s"])
    return answer


def _all(call: Any, answer: dict[str, Any], text: str) -> dict[str, Any]:
    for place in answer.get("places", []):
        place["domain"], place["feature"] = text, text
    if "summary" in answer:
        answer["summary"] = text
    return _sentences(answer, lambda at, said: text)


def _append(call: Any, answer: dict[str, Any], text: str) -> dict[str, Any]:
    for place in answer.get("places", []):
        place["domain"] = f"{place['domain']} {text}"
    if "summary" in answer:
        answer["summary"] += f" {text}"
    return _sentences(answer, lambda at, said: f"{said} {text}")


def _one(call: Any, answer: dict[str, Any], text: str) -> dict[str, Any]:
    return _sentences(answer, lambda at, said: text if at == 0 else said)


def _drop(call: Any, answer: dict[str, Any], text: str) -> dict[str, Any]:
    return {key: [] if isinstance(value, list) else value for key, value in answer.items()}


def _extra(call: Any, answer: dict[str, Any], text: str) -> dict[str, Any]:
    if "sentences" in answer:
        answer["sentences"] += [{"i": number, "s": text} for number in (-1, 999, 10**30)]
    if "places" in answer:
        answer["places"].append({"domain": text, "feature": text, "tests": [-1, 998, 10**30]})
    return answer


def _swap(call: Any, answer: dict[str, Any], text: str) -> dict[str, Any]:
    said = [row["s"] for row in answer.get("sentences", [])]
    return _sentences(answer, lambda at, _: said[(at + 1) % len(said)])


def _invert(call: Any, answer: dict[str, Any], text: str) -> dict[str, Any]:
    return _sentences(answer, lambda at, said: f"Never {said}")


def _reveal(call: Any, answer: dict[str, Any], text: str) -> dict[str, Any]:
    key = call.headers.get("authorization", "")
    return _append(call, answer, f"{key} {call.system[:80]}")


def _neighbours(call: Any, answer: dict[str, Any], text: str) -> dict[str, Any]:
    names = "; ".join(_strings(call.asked))[:100]
    return _sentences(answer, lambda at, said: f"{said} {names}")


EFFECTS = {
    "all": _all, "append": _append, "one": _one, "drop": _drop, "extra": _extra, "swap": _swap, "invert": _invert,
    "reveal": _reveal, "neighbours": _neighbours,
}  # fmt: skip
