"""Nodes that tests fork of a warm process: one that is killed as soon as it was started is killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from durable_harness.warm import Node, Warm


def test_a_forked_node_leads_a_group_of_its_own_from_the_first_moment(tmp_path: Path) -> None:
    """Who kills the group of a node that has none yet kills nobody, and waits for its end in vain."""
    warm = Warm(("http.server",), tmp_path, {})
    node = Node(["0"], dict(os.environ), tmp_path, tmp_path / "log", "http.server")
    try:
        for _ in range(30):
            forked = warm.start(node)
            os.killpg(forked.pid, signal.SIGKILL)
            assert forked.wait() == -signal.SIGKILL
    finally:
        warm.close()
