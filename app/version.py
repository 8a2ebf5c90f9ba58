"""The version of this code: the one place from which all else takes it (docs/upgrading.md).

It is read as text when a wheel is built, and runs from a checkout too, where nothing of this version is installed.
"""

VERSION = "0.5.0.dev0"
