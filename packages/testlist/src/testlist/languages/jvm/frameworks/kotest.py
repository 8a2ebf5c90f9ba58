"""Kotest: the tests of its ten styles of specification, by the words each style has for them."""

from typing import Final

from testlist.languages.jvm.scope import framework

KOTEST: Final = framework("kotest")
