"""MSTest: methods with TestMethod or an attribute derived from it, of public classes with TestClass."""

from typing import Final

from testlist.languages.csharp.scope import framework

MSTEST: Final = framework("mstest")
