"""TUnit: methods with Test, of classes that are not abstract; inherited ones only under InheritsTests."""

from typing import Final

from testlist.languages.csharp.scope import framework

TUNIT: Final = framework("tunit")
