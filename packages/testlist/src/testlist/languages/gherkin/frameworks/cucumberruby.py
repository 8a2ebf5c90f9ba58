"""Cucumber of Ruby.  Tags that the default profile of `cucumber.yml` leaves out make scenarios conditional."""

from typing import Final

from testlist.languages.gherkin.collect import Runner
from testlist.languages.gherkin.scope import framework
from testlist.languages.gherkin.vocabulary_runners import CUCUMBER_RUBY as NAME

CUCUMBER_RUBY: Final = framework(Runner(NAME))
