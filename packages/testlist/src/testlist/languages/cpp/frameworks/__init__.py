"""The test frameworks of C++ and of Objective-C: a line each, a file each."""

from typing import Final

from testlist.interface import Framework
from testlist.languages.cpp.frameworks import (
    boosttest,
    catch2,
    cedar,
    doctest,
    gtest,
    kiwi,
    quickobjc,
    specta,
    xctestobjc,
)

FRAMEWORKS: Final[tuple[Framework, ...]] = (
    gtest.GTEST,
    catch2.CATCH2,
    doctest.DOCTEST,
    boosttest.BOOST_TEST,
    xctestobjc.XCTEST,
    quickobjc.QUICK,
    specta.SPECTA,
    kiwi.KIWI,
    cedar.CEDAR,
)
