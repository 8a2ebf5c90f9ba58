"""The test frameworks of C++: a line each, a file each."""

from typing import Final

from testlist.interface import Framework
from testlist.languages.cpp.frameworks import boosttest, catch2, doctest, gtest

FRAMEWORKS: Final[tuple[Framework, ...]] = (
    gtest.GTEST,
    catch2.CATCH2,
    doctest.DOCTEST,
    boosttest.BOOST_TEST,
)
