"""behave: features of a Python project, with their steps in `steps/`.

It lists what its configuration leaves out as skipped.  Active tags (`@use.with_os=linux`) are conditions.
"""

import re
from typing import Final

from testlist.languages.gherkin.collect import Runner
from testlist.languages.gherkin.scope import framework
from testlist.languages.gherkin.vocabulary_runners import BEHAVE as NAME

ACTIVE: Final = re.compile(r"(?:use|not|active|not_active|only)\.with_[^=]++=")


def is_condition(tag: str) -> bool:
    """Whether a tag names what a scenario needs or must not have."""
    return ACTIVE.match(tag) is not None


BEHAVE: Final = framework(Runner(NAME, depends=is_condition, lists_left_out=True))
