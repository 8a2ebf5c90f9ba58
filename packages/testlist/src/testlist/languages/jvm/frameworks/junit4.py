"""JUnit 3 and 4: methods with org.junit.Test, and `test*` methods of classes whose bases end in a TestCase.

JUnit 4 knows an annotation by its own name only, and finds an inherited test even where a nearer method
without annotation overrides it; JUnit 3 goes by names, visibility and signature.
"""

from typing import Final

from testlist.languages.jvm.scope import framework

JUNIT4: Final = framework("junit4")
