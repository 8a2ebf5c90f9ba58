"""package:test: calls of `test` in groups, in `*_test.dart` and in what these import."""

from functools import partial
from typing import Final

from testlist.languages.dart.collect import called
from testlist.languages.dart.scope import framework

DART_TEST: Final = framework("dart-test", partial(called, "dart-test"))
