"""TestNG: methods with Test, and all public methods of classes that have it themselves or by a base class."""

from typing import Final

from testlist.languages.jvm.scope import JvmFramework

TESTNG: Final = JvmFramework("testng")
