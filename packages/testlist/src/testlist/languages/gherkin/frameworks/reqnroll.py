"""Reqnroll: features of a .NET project; `@ignore` skips."""

from typing import Final

from testlist.languages.gherkin.collect import Runner
from testlist.languages.gherkin.scope import framework
from testlist.languages.gherkin.vocabulary_runners import REQNROLL as NAME

REQNROLL: Final = framework(Runner(NAME, dict.fromkeys(("ignore", "Ignore", "IGNORE"), "skipped")))
