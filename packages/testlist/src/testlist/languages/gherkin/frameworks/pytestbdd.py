"""pytest-bdd: features of a Python project, whose tags become marks of pytest."""

from typing import Final

from testlist.languages.gherkin.collect import Runner
from testlist.languages.gherkin.scope import framework
from testlist.languages.gherkin.vocabulary_runners import PYTEST_BDD as NAME

PYTEST_BDD: Final = framework(Runner(NAME, {"skip": "skipped", "xfail": "xfail"}))
