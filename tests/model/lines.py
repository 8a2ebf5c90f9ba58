"""In whose line a job waits that several users asked for, by a count of our own (docs/adr/0046)."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from app.domain.plans import Tier
from tests.model.job import HELD, Payer
from tests.model.observe import Sight, pictures, settled
from tests.model.places import LINED, NEXT, runs_before
from tests.model.watch import Watched

#: Runs before a job, and whether its queue is not the better one.
Place = tuple[float, bool]
NOWHERE: Mapping[UUID, Place] = {}


class Lines(Watched):
    """What the rules of a machine say of jobs that are shared."""

    def askers(self, job_id: UUID) -> list[UUID]:
        """The payer and who joined, in an order that a replay repeats."""
        seen = self.after[job_id]
        return [seen.payer, *(user for user in self.users if user in seen.joiners)]

    def present(self, job_id: UUID) -> set[UUID]:
        """The askers of a job who have not left it."""
        seen = self.after[job_id]
        return seen.joiners | ({seen.payer} if seen.job.payer is Payer.PAYS else set())

    def role(self, user: UUID, job_id: UUID) -> object:
        asked = "SELECT max(role) FROM analysis_requests WHERE job_id = :job_id AND user_id = :user_id"
        return self.world.value(asked, job_id=job_id, user_id=user)

    def shared(self) -> list[UUID]:
        return [job_id for job_id in self.unfinished() if self.after[job_id].joiners]

    def waiting_shared(self) -> list[UUID]:
        return [job_id for job_id in self.shared() if self.after[job_id].job.message not in HELD]

    def joined_elsewhere(self, user: UUID) -> list[UUID]:
        """Jobs that a user joined, that no worker has, and that wait in another line; the newest request first."""
        requests = "SELECT job_id FROM analysis_requests WHERE user_id = :user_id AND role = 'joined' ORDER BY id DESC"
        elsewhere = {job_id for job_id in self.waiting_shared() if self.after[job_id].line != user}
        return [
            UUID(str(row["job_id"])) for row in self.world.rows(requests, user_id=user) if row["job_id"] in elsewhere
        ]

    def waits_least(self, job_id: UUID, users: set[UUID], stood: Mapping[UUID, Place] = NOWHERE) -> None:
        """It is in the line of these where fewest runs come before it, by our own count.

        stood: its place in the line that it has left.  It may be behind that of a job which comes to that line now: the head of
        a queue goes back when a lost job returns to it with its old rank.
        """
        places = {user: max(self.place(job_id, user), stood.get(user, (0.0, False))) for user in users}
        assert places[self.after[job_id].line] == min(places.values()), (job_id, places)

    def place(self, job_id: UUID, user: UUID) -> Place:
        """Runs before the job in a line, as it was; and whether its queue is not the better one."""
        tier = self.tiers[user]
        runs = runs_before(self.lined, self.nexts, str(job_id), str(user), self.queue(user), self.sold[tier][0])
        return runs, tier is Tier.FREE

    def queue(self, user: UUID) -> str:
        """Where a user's jobs wait."""
        return "analysis_default" if self.tiers[user] is Tier.FREE else "analysis_priority"

    def standing(self, job_id: UUID) -> dict[UUID, Place]:
        """The place of a job that is ready in the line of a user, by that user."""
        [me] = (row for row in self.lined if row["task_id"] == str(job_id))
        user = next((user for user in self.users if str(user) == me["user_id"]), None)
        ready = user is not None and me["visible"] and me["queue"] == self.queue(user)
        return {user: self.place(job_id, user)} if user is not None and ready else {}

    def check_settled(self, told: Sight, jobs: list[UUID]) -> None:
        """These jobs may have moved, in turn, and nothing else has changed.  told: what was to happen before that."""
        assert pictures(self.after) in [pictures(sight) for sight in settled(told, self.after, jobs)]
        # the last one chose among these places, and all did if none moved: a job is nowhere worse off for having moved,
        # and the line that it left does not grow shorter
        moved = any(self.after[job_id].line != told[job_id].line for job_id in jobs)
        left = {job_id: self.standing(job_id) for job_id in jobs if self.after[job_id].line != told[job_id].line}
        self.lined, self.nexts = self.world.rows(LINED), self.world.rows(NEXT)
        for job_id in jobs[-1:] if moved else jobs:
            self.waits_least(job_id, self.present(job_id), left.get(job_id, NOWHERE))
        self.check()
