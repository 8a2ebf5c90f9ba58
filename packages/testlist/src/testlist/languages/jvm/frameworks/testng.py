"""TestNG: methods with Test, and all public methods of classes that have it themselves or by a base class."""

from typing import Final

from testlist.languages.jvm.scope import framework

TESTNG: Final = framework("testng")
