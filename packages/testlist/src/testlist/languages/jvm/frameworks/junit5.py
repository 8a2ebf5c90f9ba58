"""JUnit 5 and its successors: methods with Test, RepeatedTest, ParameterizedTest, TestFactory and TestTemplate.

Annotations of the repository that carry one of these count as well, and so do foreign ones called `...Test`.
Inner classes with Nested run with the class around them.  kotlin.test stands for it unless the build says otherwise.
"""

from typing import Final

from testlist.languages.jvm.scope import framework

JUNIT5: Final = framework("junit5")
