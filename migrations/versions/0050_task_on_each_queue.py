"""Version 6 of the broker's schema: a task may have a message on each of several queues.

Publishing needs no right on a table: its functions have those of the owner, and `app/rights.py` says who may call them.

The functions are those of celery-durable; the service itself sends each job to one queue.
"""

from pathlib import Path

from alembic import op
from celery_durable import schema

from migrations import online

revision = "0050"
down_revision = "0049"

BROKER_VERSION = 6
ONLINE = {"kombu_message": "index kombu_message_task_id in place of the one of that name"}

HERE = Path(__file__).parent


def upgrade() -> None:
    # The step of the package takes the index that it finds under this name.  It comes first: without either of them a
    # task could be put on its queue twice.
    online.create_index(
        "kombu_message_task_queue", "ON kombu_message (task_id, queue_id) WHERE task_id IS NOT NULL", is_unique=True
    )
    online.drop_index("kombu_message_task_id")
    schema.upgrade(op.get_bind(), to=BROKER_VERSION)


def downgrade() -> None:
    # an error: a task has messages on two queues, and the release before knows only one of them
    online.create_index("kombu_message_task", "ON kombu_message (task_id)", is_unique=True)
    online.drop_index("kombu_message_task_id")
    op.execute("ALTER INDEX kombu_message_task RENAME TO kombu_message_task_id")
    op.execute(HERE.joinpath("0050_functions_before.sql").read_text(encoding="utf-8"))
    op.execute("UPDATE kombu_schema SET version = 5")
