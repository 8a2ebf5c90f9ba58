"""xUnit: methods with Fact, Theory or an attribute derived from them, of public classes."""

from typing import Final

from testlist.languages.csharp.scope import framework

XUNIT: Final = framework("xunit")
