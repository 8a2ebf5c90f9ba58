"""Cucumber of the JVM.  Tags that its properties leave out make scenarios conditional; annotations are not read."""

from typing import Final

from testlist.languages.gherkin.collect import Runner
from testlist.languages.gherkin.scope import framework
from testlist.languages.gherkin.vocabulary_runners import CUCUMBER_JVM as NAME

CUCUMBER_JVM: Final = framework(Runner(NAME))
