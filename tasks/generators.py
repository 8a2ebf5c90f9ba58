"""Which generator writes specifications, by the settings; the web asks for its name alone."""

from app.domain.specification import BUILT_IN
from app.services.generator import Generator
from app.settings import Settings
from tasks.specview.builtin import built_in


def name_of(settings: Settings) -> str:  # noqa: ARG001 - of the built-in one, whatever the settings are
    """The name of what `generator_of` makes."""
    return BUILT_IN


def generator_of(settings: Settings) -> Generator:  # noqa: ARG001
    """What writes the specifications of this process."""
    return built_in()
