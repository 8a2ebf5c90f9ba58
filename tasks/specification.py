"""The specification task: it takes an analysis and stores a readable document in the database."""

from typing import Any
from uuid import UUID

from app.domain.queues import Service
from app.services.specifications.specify import specify as write
from tasks.base import FairTask
from tasks.celery import app
from tasks.wiring import wired


class SpecificationTask(FairTask):
    """A specification under its user's slot limit; its time limits are in celeryconfig."""

    abstract = True
    service = Service.SPECVIEW


@app.task(base=SpecificationTask, bind=True, name="tasks.specification.specify")
def specify(self: SpecificationTask, *, user_id: str) -> Any:
    """Write the specification that the job was accepted for."""
    kit, user = wired(), UUID(user_id)
    return write(kit.uow, self.delivery, user, kit.generator(user), kit.policy, checkpoint=self.heart.checkpoint)
