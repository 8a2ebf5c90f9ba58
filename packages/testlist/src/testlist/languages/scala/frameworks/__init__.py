"""The test frameworks of Scala: a line each, a file each."""

from typing import Final

from testlist.interface import Framework
from testlist.languages.scala.frameworks import junitscala, munit, scalacheck, scalatest, specs2, utest, weaver, ziotest

FRAMEWORKS: Final[tuple[Framework, ...]] = (
    scalatest.SCALATEST,
    munit.MUNIT,
    specs2.SPECS2,
    ziotest.ZIO_TEST,
    weaver.WEAVER,
    utest.UTEST,
    scalacheck.SCALACHECK,
    junitscala.JUNIT_SCALA,
)
