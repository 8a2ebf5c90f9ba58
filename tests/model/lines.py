"""In whose line a job waits that several users asked for, by a count of our own (docs/adr/0046)."""

from __future__ import annotations

from uuid import UUID

from app.domain.plans import Tier
from tests.model.job import HELD, Payer
from tests.model.observe import Sight, pictures, settled
from tests.model.places import LINED, NEXT, runs_before
from tests.model.watch import Watched


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

    def waits_least(self, job_id: UUID, users: set[UUID]) -> None:
        """It is in the line of these where fewest runs come before it, by our own count."""
        places = {user: self.place(job_id, user) for user in users}
        assert places[self.after[job_id].line] == min(places.values()), (job_id, places)

    def place(self, job_id: UUID, user: UUID) -> tuple[float, bool]:
        """Runs before the job in a line, as it was; and whether its queue is not the better one."""
        tier = self.tiers[user]
        queue = "analysis_default" if tier is Tier.FREE else "analysis_priority"
        return runs_before(self.lined, self.nexts, str(job_id), str(user), queue, self.sold[tier][0]), tier is Tier.FREE

    def check_settled(self, told: Sight, jobs: list[UUID]) -> None:
        """These jobs may have moved, in turn, and nothing else has changed.  told: what was to happen before that."""
        assert pictures(self.after) in [pictures(sight) for sight in settled(told, self.after, jobs)]
        # the last one chose among these places, and all did if none moved: a job is nowhere worse off for having moved,
        # and the line that it left does not grow shorter
        moved = any(self.after[job_id].line != told[job_id].line for job_id in jobs)
        self.lined, self.nexts = self.world.rows(LINED), self.world.rows(NEXT)
        for job_id in jobs[-1:] if moved else jobs:
            self.waits_least(job_id, self.present(job_id))
        self.check()
