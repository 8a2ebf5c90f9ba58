"""What is compared, and how each one's programs are run."""

from dataclasses import dataclass

CLIENTS = "durable_bench.clients"
CELERY = f"{CLIENTS}.celery_client"


@dataclass(frozen=True, kw_only=True)
class System:
    """One system.

    store: "postgres", "redis", "rabbitmq" or "memory".  client: its module.  scheme: of its Celery URL, if any.
    share: of the jobs of a drain, so that a slow one takes no longer than the others.
    """

    name: str
    about: str
    store: str
    client: str = CELERY
    scheme: str = ""
    variant: str = ""
    share: float = 1.0
    in_peers: bool = False

    @property
    def is_celery(self) -> bool:
        """Whether its nodes are Celery workers."""
        return self.client == CELERY


def _peer(name: str, about: str, module: str, *, share: float = 1.0, variant: str = "") -> System:
    return System(
        name=name, about=about, store="postgres", client=f"{CLIENTS}.{module}", variant=variant, share=share,
        in_peers=True,
    )  # fmt: skip


SYSTEMS = {
    system.name: system
    for system in (
        System(name="ours", about="celery-durable", store="postgres", scheme="durable+postgresql+psycopg2"),
        System(
            name="stock", about="kombu's SQLAlchemy transport", store="postgres", scheme="sqla+postgresql+psycopg2",
            share=0.1,
        ),
        System(
            name="pgmq", about="kombu's PGMQ transport, its defaults", store="postgres", scheme="pgmq", share=0.25,
            in_peers=True, variant="pgmq",
        ),
        System(
            name="pgmq-notify", about="kombu's PGMQ transport with use_notify", store="postgres", scheme="pgmq",
            share=0.25, in_peers=True, variant="pgmq-notify",
        ),
        System(name="redis", about="Celery with Redis, its defaults", store="redis", share=0.5, in_peers=True),
        System(name="rabbit", about="Celery with RabbitMQ, its defaults", store="rabbitmq"),
        System(
            name="rabbit-confirms", about="Celery with RabbitMQ, each publish confirmed", store="rabbitmq",
            variant="confirms",
        ),
        _peer("procrastinate", "its defaults, c coroutines", "procrastinate_client", share=0.25),
        _peer("pgqueuer-capped", "at most c jobs at once", "pgqueuer_client", share=0.5, variant="capped"),
        _peer("pgqueuer", "its defaults: batches of 10, no cap", "pgqueuer_client"),
        _peer("oban", "its defaults, c coroutines", "oban_client", share=0.4),
        System(
            name="raw", about="psycopg2, SKIP LOCKED, one job a transaction", store="postgres", client=f"{CLIENTS}.raw",
        ),
        System(name="no-broker", about="a Celery pool fed from memory", store="memory", scheme="nobroker"),
    )
}  # fmt: skip
