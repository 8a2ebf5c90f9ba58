"""godog: features beside the tests of a Go package, which name the tags that a run leaves out; that is not read."""

from typing import Final

from testlist.languages.gherkin.collect import Runner
from testlist.languages.gherkin.scope import framework
from testlist.languages.gherkin.vocabulary_runners import GODOG as NAME

GODOG: Final = framework(Runner(NAME))
