"""Behat: features of a PHP project.  Tags that its configuration leaves out make scenarios conditional."""

from typing import Final

from testlist.languages.gherkin.collect import Runner
from testlist.languages.gherkin.scope import framework
from testlist.languages.gherkin.vocabulary_runners import BEHAT as NAME

BEHAT: Final = framework(Runner(NAME))
