"""Viewed repositories are analysed again when there is something new, and left alone otherwise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from app.domain.lifecycle import Failure, Outcome
from app.domain.repositories import Repository
from app.errors import RepositoryNotFound, Unavailable
from app.services.analyses import reschedule as rescheduling
from app.services.analyses.reschedule import Rescheduled, reschedule
from app.services.analyses.submit import submit
from app.store.core.session import Session
from app.store.core.unit_of_work import JobMessage, UnitOfWork
from tests.conftest import NOW, World

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
OLD, NEW = "a" * 40, "b" * 40


@dataclass
class Host:
    """What Git hosts answer: the commit of HEAD by repository name; an exception is raised."""

    heads: dict[str, str | Exception] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def __call__(self, repository: Repository) -> tuple[str, str | None]:
        self.asked.append(repository.name)
        head = self.heads[repository.name]
        if isinstance(head, Exception):
            raise head
        return head, "main"


@dataclass
class Scene:
    """A world with repositories somebody looked at, and the host they live on."""

    world: World
    host: Host = field(default_factory=Host)

    def analysed(self, name: str = "shop", commit: str = OLD, *, after: timedelta = timedelta(0)) -> None:
        """A completed analysis of a commit that ended so long after NOW."""
        user, later = self.world.user(), replace(self.world, now=NOW + after)
        delivery = later.running(user, later.wanted(name, commit))
        assert later.finish(delivery, user) is Outcome.COMPLETED
        self.host.heads.setdefault(name, commit)

    def failed(self, times: int) -> None:
        """So many failed analyses within an hour after NOW."""
        for number in range(times):
            user, later = self.world.user(), replace(self.world, now=NOW + timedelta(minutes=1 + number))
            delivery = later.running(user, later.wanted("shop", f"{number:040x}"))
            assert later.fail(delivery, user, Failure("repository_too_large", "Too large.")) is Outcome.FAILED

    def round(self, after: timedelta = 6 * HOUR, **policy: str) -> Rescheduled:
        world = self.world.with_policy(**policy) if policy else self.world
        return reschedule(world.uow, self.host, world.policy, now=NOW + after)

    def scheduled(self) -> list[dict[str, object]]:
        return self.world.rows("""
            SELECT r.commit_sha, r.trigger, r.queue, r.user_id, r.tier, q.name AS on_queue, m.user_id AS grouped
              FROM analysis_requests r JOIN kombu_message m ON m.task_id = r.job_id::text
              JOIN kombu_queue q ON q.id = m.queue_id WHERE r.trigger = 'scheduled'""")


@pytest.fixture
def scene(world: World) -> Scene:
    return Scene(world)


def test_a_head_that_moved_is_enqueued_on_the_scheduled_queue_for_nobodys_account(scene: Scene) -> None:
    scene.analysed()
    scene.host.heads["shop"] = NEW
    assert scene.round() == Rescheduled(due=1, enqueued=1)
    assert scene.scheduled() == [
        {
            "commit_sha": NEW, "trigger": "scheduled", "queue": "analysis_scheduled", "user_id": None, "tier": None,
            "on_queue": "analysis_scheduled", "grouped": None,
        }
    ]  # fmt: skip
    assert scene.world.value("SELECT count(*) FROM quota_reservations") == 0


def test_a_head_that_stayed_is_not_analysed_again_and_not_asked_for_before_the_next_interval(scene: Scene) -> None:
    scene.analysed()
    assert scene.round() == Rescheduled(due=1, unchanged=1)
    assert scene.round(after=11 * HOUR) == Rescheduled()
    assert scene.round(after=12 * HOUR) == Rescheduled(due=1, unchanged=1)
    assert scene.host.asked == ["shop", "shop"]
    assert scene.scheduled() == []


def test_a_head_that_went_back_to_a_known_commit_costs_nothing(scene: Scene) -> None:
    scene.analysed(commit=NEW)
    scene.analysed(commit=OLD)
    scene.host.heads["shop"] = NEW
    assert scene.round() == Rescheduled(due=1, unchanged=1)


def test_a_newer_parser_reads_an_unchanged_head_again(scene: Scene) -> None:
    scene.analysed()
    assert scene.round(parser_version="2.0.0") == Rescheduled(due=1, enqueued=1)


def test_before_its_interval_a_repository_is_not_even_asked_for(scene: Scene) -> None:
    scene.analysed()
    scene.host.heads["shop"] = NEW
    assert scene.round(after=6 * HOUR - timedelta(seconds=1)) == Rescheduled()
    assert scene.host.asked == []


@pytest.mark.parametrize(("days", "due"), [(90, 1), (91, 0)])
def test_ninety_days_after_the_last_view_a_repository_rests(scene: Scene, days: int, due: int) -> None:
    scene.analysed()
    assert scene.round(after=days * DAY).due == due


def test_private_repositories_are_not_on_the_schedule(scene: Scene) -> None:
    scene.analysed()
    scene.world.rows("UPDATE codebases SET is_private = true RETURNING id")
    assert scene.round() == Rescheduled()


@pytest.mark.parametrize(("failures", "due"), [(4, 1), (5, 0)])
def test_five_failures_in_a_row_stop_a_repository(scene: Scene, failures: int, due: int) -> None:
    scene.analysed()
    scene.failed(failures)
    scene.host.heads["shop"] = NEW
    assert scene.round(after=8 * HOUR).due == due


def test_a_success_lets_a_stopped_repository_go_on(scene: Scene) -> None:
    scene.analysed()
    scene.failed(5)
    scene.analysed(commit="c" * 40, after=2 * HOUR)
    scene.host.heads["shop"] = NEW
    assert scene.round(after=8 * HOUR) == Rescheduled(due=1, enqueued=1)


def test_a_commit_that_is_under_way_is_not_enqueued_twice(scene: Scene) -> None:
    scene.analysed()
    scene.host.heads["shop"] = NEW
    job_id = scene.world.submit(scene.world.user(), scene.world.wanted("shop", NEW))
    assert scene.round() == Rescheduled(due=1, under_way=1)
    assert scene.scheduled() == []
    assert scene.world.status(job_id) == "queued"


@pytest.mark.parametrize("error", [Unavailable("The host is away."), RepositoryNotFound("Gone.")])
def test_a_host_that_does_not_answer_harms_no_other_repository(scene: Scene, error: Exception) -> None:
    scene.analysed("away")
    scene.analysed("shop")
    scene.host.heads |= {"away": error, "shop": NEW}
    assert scene.round() == Rescheduled(due=2, enqueued=1, unreachable=1)


def test_a_scheduled_job_is_joined_by_a_user_at_no_cost_and_is_billed_to_nobody(scene: Scene) -> None:
    scene.analysed()
    scene.host.heads["shop"] = NEW
    scene.round()
    world, user = scene.world, scene.world.user()
    answer = submit(world.uow, user, world.wanted("shop", NEW), world.policy, now=NOW + 6 * HOUR)
    assert (answer.is_known, answer.job.trigger) == (False, "scheduled")
    delivery = world.lease(answer.job.id)
    assert world.start(delivery, None) is Outcome.STARTED
    assert world.finish(delivery, None) is Outcome.COMPLETED
    assert world.value("SELECT count(*) FROM usage_events WHERE job_id = :id", id=delivery.job_id) == 0
    assert world.value("SELECT count(*) FROM execution_slots") == 0


def test_rounds_of_two_beats_at_once_enqueue_one_job(scene: Scene) -> None:
    scene.analysed()
    scene.host.heads["shop"] = NEW
    again: list[Rescheduled] = []

    def interrupted(repository: Repository) -> tuple[str, str | None]:
        if not again:  # the other round runs to its end while this one waits for the host
            again.append(reschedule(scene.world.uow, scene.host, scene.world.policy, now=NOW + 6 * HOUR))
        return NEW, "main"

    resolve: Callable[[Repository], tuple[str, str | None]] = interrupted
    mine = reschedule(scene.world.uow, resolve, scene.world.policy, now=NOW + 6 * HOUR)
    assert (mine, again) == (Rescheduled(due=1, under_way=1), [Rescheduled(due=1, enqueued=1)])


def test_a_commit_completed_between_the_look_and_the_enqueue_is_not_analysed_twice(scene: Scene) -> None:
    scene.analysed()
    scene.host.heads["shop"] = NEW
    uow = scene.world.uow

    def publish_late(connection: Session, messages: Sequence[JobMessage]) -> None:
        scene.analysed(commit=NEW)  # a user's job, accepted and done just now
        uow.publisher(connection, messages)

    done = reschedule(UnitOfWork(uow.engine, publish_late), scene.host, scene.world.policy, now=NOW + 6 * HOUR)
    assert (done.enqueued, done.under_way) == (0, 1)
    assert scene.world.value("SELECT count(*) FROM kombu_message") == 0


def many(scene: Scene, number: int) -> None:
    """So many repositories of three hosts that were viewed and never analysed."""
    statement = """
        INSERT INTO codebases (id, host, owner, name, created_at, last_viewed_at)
        SELECT gen_random_uuid(), (ARRAY['github.com', 'gitlab.com', 'codeberg.org'])[1 + n % 3], 'acme', 'many' || n, :now,
               :now - n % 7 * interval '1 minute' FROM generate_series(1, :number) n RETURNING id"""
    scene.world.rows(statement, now=NOW, number=number)
    scene.host.heads |= {f"many{one}": Unavailable("away") for one in range(1, number + 1)}


def test_all_repositories_of_all_hosts_are_asked_for_once_whatever_the_batch(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rescheduling, "BATCH", 7)
    many(scene, 100)  # several were viewed at the same instant
    assert scene.round() == Rescheduled(due=100, unreachable=100)
    assert sorted(scene.host.asked) == sorted(scene.host.heads)


def test_a_run_that_is_out_of_time_is_continued_by_the_next(scene: Scene) -> None:
    many(scene, 50)
    world, asked = scene.world, scene.host.asked
    first = reschedule(world.uow, scene.host, world.policy, now=NOW + HOUR, expired=lambda: len(asked) >= 10)
    assert 10 <= first.due < 50
    assert reschedule(world.uow, scene.host, world.policy, now=NOW + 2 * HOUR).due == 50 - first.due
    assert len(asked) == len(set(asked)) == 50


def test_a_cancelled_analysis_is_no_failure(scene: Scene) -> None:
    scene.analysed()
    scene.failed(5)
    scene.world.rows("""
        UPDATE analyses SET status = 'cancelled', error_code = NULL
         WHERE id = (SELECT id FROM analyses WHERE status = 'failed' ORDER BY completed_at LIMIT 1) RETURNING id""")
    scene.host.heads["shop"] = NEW
    assert scene.round(after=8 * HOUR).due == 1
