"""Choose the article after a preposition, or none as in `on click`, `by name`, `per match`."""

from __future__ import annotations

from app.specview.listed import listed
from app.specview.nouns import row
from app.specview.verbs import NOUNS_TOO

_INDEFINITE_AFTER = listed("with without as into for")
_IDIOMS = {
    "at": listed("runtime startup compile build boot rest scale"),
    "by": listed("""
name key id index type date time size value default length order position line path hand status count title
score
"""),
    "for": listed("example instance"),
    "into": listed("account"),
    "to": listed("string"),
    "from": listed("scratch memory disk source"),
    "in": listed("""
order place parallel memory production sync case use time debug sequence isolation practice total
"""),
    "on": listed("""
error failure success demand mount exit blur hover time timeout mobile desktop disk expire startup shutdown
"""),
    "as": listed("root expected text string json default"),
    "with": listed("respect regard"),
    "without": listed("error delay"),
}


def article_after(opening: str, following: list[str]) -> str:
    """`the`, `a` or nothing, by the preposition and the words after it."""
    alone = following[:1] if row(following, 0) == 1 else []
    if opening == "per" or following[:1] == ["later"] or (alone and alone[0] in _IDIOMS.get(opening, ())):
        return ""
    if opening == "on" and alone and alone[0] in NOUNS_TOO:
        return ""
    return "a" if opening in _INDEFINITE_AFTER else "the"
