"""Fairlane, the service.  Importing this package imports neither Flask nor Celery."""

import os

#: pydantic looks through all installed distributions for plugins when the first model is made.  There are none, and a
#: command line that only lists the tests of a small repository would spend a tenth of its time on it.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
