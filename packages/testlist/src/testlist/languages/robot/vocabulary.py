"""The words of Robot Framework in its languages; no word means two things, so that a file need not name its own."""

import json
from pathlib import Path
from typing import Final

WORDS: Final[dict[str, dict[str, list[str]]]] = json.loads(
    Path(__file__).with_name("vocabulary.json").read_text(encoding="utf-8")
)
#: heading -> "tests" or "settings"; all other sections mean nothing here
HEADINGS: Final = {word: role for role, words in WORDS["headings"].items() for word in words}
#: name of a setting, of a file or in brackets -> what it is
SETTINGS: Final = {word: role for role, words in WORDS["settings"].items() for word in words}
#: tags that leave a test out
LEAVING_OUT: Final = frozenset({"robot:skip", "robot:exclude"})
#: markers that begin a block and that end one
BEGIN: Final = frozenset({"FOR", "WHILE", "IF", "TRY", "GROUP"})
BRANCHES: Final = frozenset({"ELSE", "ELSE IF", "EXCEPT", "FINALLY", "VAR", "BREAK", "CONTINUE", "RETURN"})
END: Final = "END"
#: a setting with this drops what the file says
NONE: Final = "none"
#: a library that makes tests of the rows of other files
DRIVER: Final = "DataDriver"
