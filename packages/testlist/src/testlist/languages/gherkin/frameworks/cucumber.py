"""Cucumber in a port that the layout does not show, and runners that have its parser and no name of their own here."""

from typing import Final

from testlist.languages.gherkin.collect import Runner
from testlist.languages.gherkin.scope import framework
from testlist.languages.gherkin.vocabulary_runners import CUCUMBER as NAME

CUCUMBER: Final = framework(Runner(NAME))
