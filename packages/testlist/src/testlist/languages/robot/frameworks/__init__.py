"""The test frameworks of Robot Framework's files: a line each, a file each."""

from typing import Final

from testlist.interface import Framework
from testlist.languages.robot.frameworks import robot

FRAMEWORKS: Final[tuple[Framework, ...]] = (robot.ROBOT,)
