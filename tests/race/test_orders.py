"""Every order in which the statements of two use cases can meet: stepped one by one over real connections.

The suite runs the orders with at most one switch away from a use case that could have gone on; `make prove-quota` runs
them all (RACE_SWITCHES=all), save those that differ only in the places of statements that touch nothing in common.
"""

from __future__ import annotations

import os
import time

import pytest

from tests.conftest import World
from tests.race import scenes_of_accepts, scenes_of_ends, scenes_of_joins, scenes_of_lines, scenes_of_specifications
from tests.race.conftest import Theatre
from tests.race.scenes import Make
from tests.tiers import proofs

GIVEN = os.environ.get("RACE_SWITCHES", "1")
KINDS = (scenes_of_accepts, scenes_of_ends, scenes_of_joins, scenes_of_lines, scenes_of_specifications)
SCENES = tuple(scene for scenes in KINDS for scene in scenes.SCENES)
#: Those with the fewest orders; the second tier has all.
FEW = (scenes_of_ends.two_starts_for_one_slot, scenes_of_specifications.two_shares_of_one_document)
SWITCHES = None if GIVEN == "all" else int(GIVEN)


@pytest.mark.timeout(4 * 3600)
@pytest.mark.parametrize("make_scene", proofs(SCENES, but=FEW), ids=lambda scene: scene.__name__)
def test_in_every_order_the_invariants_hold_and_each_caller_was_told_the_truth(
    theatre: Theatre, world: World, make_scene: Make
) -> None:
    begun = time.monotonic()
    search = theatre.every_order(make_scene, switches=SWITCHES)
    deadlocks = world.value("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    print(
        f"{make_scene.__name__}: {search.orders} orders, {search.redundant} more equal to one of them,"
        f" {deadlocks} deadlocks, {time.monotonic() - begun:.1f} s"
    )
    assert search.orders > 1
