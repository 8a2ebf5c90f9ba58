"""NUnit: methods with Test, TestCase, TestCaseSource or Theory, of any class that can be made."""

from typing import Final

from testlist.languages.csharp.scope import framework

NUNIT: Final = framework("nunit")
