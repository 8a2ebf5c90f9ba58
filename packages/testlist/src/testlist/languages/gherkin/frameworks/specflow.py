"""SpecFlow, which Reqnroll follows: features of a .NET project; `@ignore` skips."""

from typing import Final

from testlist.languages.gherkin.collect import Runner
from testlist.languages.gherkin.scope import framework
from testlist.languages.gherkin.vocabulary_runners import SPECFLOW as NAME

SPECFLOW: Final = framework(Runner(NAME, dict.fromkeys(("ignore", "Ignore", "IGNORE"), "skipped")))
