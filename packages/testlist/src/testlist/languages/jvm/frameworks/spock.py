"""Spock: methods with labelled blocks in classes whose bases end in a Specification."""

from typing import Final

from testlist.languages.jvm.scope import framework

SPOCK: Final = framework("spock")
