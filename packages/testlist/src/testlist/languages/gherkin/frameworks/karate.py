"""Karate: features below a `karate-config.js`; a run leaves those with `@ignore` to the features that call them."""

from typing import Final

from testlist.languages.gherkin.collect import Runner
from testlist.languages.gherkin.scope import framework
from testlist.languages.gherkin.vocabulary_runners import KARATE as NAME

KARATE: Final = framework(Runner(NAME, {"ignore": "skipped"}))
