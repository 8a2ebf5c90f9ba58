"""flutter_test: `testWidgets`, and `test` in files that import it."""

from functools import partial
from typing import Final

from testlist.languages.dart.collect import FLUTTER, called
from testlist.languages.dart.scope import framework

FLUTTER_TEST: Final = framework(FLUTTER, partial(called, FLUTTER))
