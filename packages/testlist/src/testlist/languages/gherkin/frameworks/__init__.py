"""The runners of feature files: a line each, a file each."""

from typing import Final

from testlist.interface import Framework
from testlist.languages.gherkin.frameworks import (
    behat,
    behave,
    cucumber,
    cucumberjs,
    cucumberjvm,
    cucumberruby,
    godog,
    karate,
    pytestbdd,
    reqnroll,
    specflow,
)

FRAMEWORKS: Final[tuple[Framework, ...]] = (
    behat.BEHAT,
    behave.BEHAVE,
    cucumber.CUCUMBER,
    cucumberjs.CUCUMBER_JS,
    cucumberjvm.CUCUMBER_JVM,
    cucumberruby.CUCUMBER_RUBY,
    godog.GODOG,
    karate.KARATE,
    pytestbdd.PYTEST_BDD,
    reqnroll.REQNROLL,
    specflow.SPECFLOW,
)
