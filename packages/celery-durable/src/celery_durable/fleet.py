"""How often one node of many looks, so that what the looks of all cost the server does not grow with their number.

`nodes` counts those that read all queues of this one.
"""

from random import uniform

#: While other nodes hold leases, seconds between two looks for nodes that died: as sql/upkeep.sql judges them.
WATCH_SECONDS = 1.0
#: So many polls of nodes with the same queues, and looks of theirs at each other, are enough in a second.
POLLS, LOOKS = 20, 100


def longest_pause(seconds: float, nodes: int) -> float:
    """The longest time between two polls of a node that is notified: its own `seconds`, doubled as often as needed.

    A delayed message that is due later than that is not announced (`durable_sooner`), so it is written down before a
    node makes such a pause.  In steps, as it is written with each change.
    """
    while nodes / seconds > POLLS:
        seconds *= 2
    return seconds


def watch_pause(nodes: int, ago: float = 0.0) -> float:
    """Seconds until a node looks at the others again.  ago: seconds since they were judged.

    A node that was told of a judgement looks when that is a second old, shortly after the one that judged.  Nodes that
    were told at the same moment would come back at the same moment: chance spreads them.  Of many, chance alone lets
    one come in each second.
    """
    if nodes > LOOKS * WATCH_SECONDS:
        return uniform(0, 2) * nodes / LOOKS  # noqa: S311  no secret
    if ago == 0.0 or ago > WATCH_SECONDS:
        return WATCH_SECONDS
    return WATCH_SECONDS - ago + uniform(0.05, 0.2)  # noqa: S311  no secret
