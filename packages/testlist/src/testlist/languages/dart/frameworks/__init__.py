"""The test frameworks of Dart: a line each, a file each."""

from typing import Final

from testlist.interface import Framework
from testlist.languages.dart.frameworks import darttest, fluttertest, reflectiveloader

FRAMEWORKS: Final[tuple[Framework, ...]] = (
    darttest.DART_TEST,
    fluttertest.FLUTTER_TEST,
    reflectiveloader.TEST_REFLECTIVE_LOADER,
)
