"""kotlin.test where no JVM runs it: tests for JavaScript, WebAssembly and native programs.

On the JVM it stands for JUnit or TestNG, as the build says, also for tests that all platforms share.
"""

from typing import Final

from testlist.languages.jvm.scope import framework

KOTLIN_TEST: Final = framework("kotlin-test")
