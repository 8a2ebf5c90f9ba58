"""MSTest: methods with TestMethod or an attribute derived from it, of public classes with TestClass."""

from typing import Final

from testlist.languages.csharp.scope import DotnetFramework

MSTEST: Final = DotnetFramework("mstest")
