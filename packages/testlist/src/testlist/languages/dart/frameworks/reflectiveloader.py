"""test_reflective_loader: methods `test...` of classes that bear `@reflectiveTest`, and of what these inherit."""

from typing import Final

from testlist.languages.dart.collect import REFLECTIVE, reflected
from testlist.languages.dart.scope import framework

TEST_REFLECTIVE_LOADER: Final = framework(REFLECTIVE, reflected)
