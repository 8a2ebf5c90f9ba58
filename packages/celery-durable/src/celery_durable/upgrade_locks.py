"""What the steps of `schema.upgrade` lock."""

from collections.abc import Mapping, Sequence
from importlib.resources import files

#: What version 8 turns from a table into a view, or changes.
REPLACED = (
    "broker_facts", "broker_node", "broker_group", "broker_dead_letter", "broker_queue", "broker_message",
    "kombu_queue", "kombu_group", "kombu_message", "kombu_node", "kombu_judgement", "kombu_dead_letter",
)  # fmt: skip
#: What a step takes, all at once, before anything is changed; see sql/locks.sql.
LOCKS: Mapping[int, tuple[str, ...]] = {
    8: REPLACED,
    9: (
        "broker_facts", "broker_node", "broker_group", "broker_dead_letter", "broker_queue", "broker_message",
        "broker_ready", "broker_lease", "broker_waiting", "broker_limit", "kombu_queue", "kombu_message",
        "durable_ready", "durable_waiting",
    ),
}  # fmt: skip


def locks(relations: Sequence[str]) -> str:
    """The statement that takes tables and views, ACCESS EXCLUSIVE, in this order; see sql/locks.sql."""
    text = files(__package__).joinpath("sql", "locks.sql").read_text(encoding="utf-8")
    return text.replace("'{relations}'", "'{" + ",".join(relations) + "}'")
