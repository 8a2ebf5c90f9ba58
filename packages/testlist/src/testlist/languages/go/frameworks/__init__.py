"""The test frameworks of Go: a line each, a file each."""

from typing import Final

from testlist.interface import Framework
from testlist.languages.go.frameworks import ginkgo, goconvey, gotesting

FRAMEWORKS: Final[tuple[Framework, ...]] = (gotesting.GO_TESTING, ginkgo.GINKGO, goconvey.GOCONVEY)
