"""How often one node of many looks: what the looks of all together cost the server does not grow with their number.

`nodes` counts those that read all queues of this one.  Each of them looks at least as often as this one, so all that is
in one of its queues is seen about LOOKS times a second, by whichever node: a delayed message is announced by nobody if
it is due later than `poll_seconds`, and one poll is enough to know of it.
"""

from random import uniform

#: While other nodes hold leases, seconds between two looks for nodes that died: as sql/upkeep.sql judges them.
WATCH_SECONDS = 1.0
#: Many nodes of the same queues together take about so many polls a second, and as many looks at each other.
LOOKS = 20


def poll_pause(seconds: float, nodes: int) -> float:
    """Seconds until a node that is notified polls again: its own `seconds`, or longer among many."""
    return max(seconds, nodes / LOOKS * uniform(0.5, 1.5))  # noqa: S311  no secret


def watch_pause(nodes: int, ago: float = 0.0) -> float:
    """Seconds until a node looks at the others again.  ago: seconds since they were judged.

    A node that was told of a judgement looks when that is a second old, shortly after the one that judged.  Nodes that
    were told at the same moment would come back at the same moment: chance spreads them.  Of many, chance alone lets
    one come in each second.
    """
    if nodes > LOOKS * WATCH_SECONDS:
        return uniform(0, 2) * nodes / LOOKS  # noqa: S311
    if ago == 0.0 or ago > WATCH_SECONDS:
        return WATCH_SECONDS
    return WATCH_SECONDS - ago + uniform(0.05, 0.2)  # noqa: S311
