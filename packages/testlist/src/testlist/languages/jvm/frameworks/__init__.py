"""The test frameworks of the JVM: a line each, a file each."""

from typing import Final

from testlist.interface import Framework
from testlist.languages.jvm.frameworks import junit4, junit5, kotest, kotlintest, spock, testng

FRAMEWORKS: Final[tuple[Framework, ...]] = (
    junit4.JUNIT4,
    junit5.JUNIT5,
    testng.TESTNG,
    kotest.KOTEST,
    kotlintest.KOTLIN_TEST,
    spock.SPOCK,
)
