"""Spock: methods with labelled blocks in classes whose bases end in a Specification."""

from typing import Final

from testlist.languages.jvm.suite import JvmFramework

SPOCK: Final = JvmFramework("spock")
