"""What tests of specifications share: somebody who asks for them."""

import pytest

from tests.conftest import World
from tests.services.specifications.writing import Writing, of_a_model


@pytest.fixture
def writing(world: World) -> Writing:
    return Writing(of_a_model(world))
