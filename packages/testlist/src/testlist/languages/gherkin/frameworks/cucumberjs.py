"""Cucumber of JavaScript.  Tags that the default profile leaves out make scenarios conditional."""

from typing import Final

from testlist.languages.gherkin.collect import Runner
from testlist.languages.gherkin.scope import framework
from testlist.languages.gherkin.vocabulary_runners import CUCUMBER_JS as NAME

CUCUMBER_JS: Final = framework(Runner(NAME))
