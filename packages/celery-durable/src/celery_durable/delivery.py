"""What a consumer gets: kombu's message, which tells its node how it ended."""

from typing import Any

from kombu.transport import virtual

from .ledger import DIED, RETURNED, SETTLED, UNDECODABLE


class Delivery(virtual.Message):
    """A delivery.  One whose body turns out to be unreadable is not acknowledged away but kept as a dead letter."""

    undecodable = False
    #: Its process ended before it did, see celery_worker.py.
    died = False

    def _decode(self) -> Any:
        try:
            return super()._decode()
        except Exception:
            self.undecodable = True
            raise

    def ack(self, multiple: bool = False) -> None:  # noqa: FBT002  kombu's
        """Acknowledge; see the class."""
        if self.undecodable and not self.acknowledged:
            self._end(UNDECODABLE)
        else:
            super().ack(multiple=multiple)

    def reject(self, requeue: bool = False) -> None:  # noqa: FBT002  kombu's
        """Reject; one that comes back because its process ended counts as lost."""
        if requeue and self.died and not self.acknowledged:
            self._end(DIED)
        else:
            super().reject(requeue=requeue)

    def settled(self) -> None:
        """What an acknowledgement would write is written: the task deleted the message in a commit of its own."""
        if not self.acknowledged:
            self._end(SETTLED)

    def returned(self) -> None:
        """Give it back, ready at once and without a count: it could not be worked on, by no fault of its own."""
        if not self.acknowledged:
            self._end(RETURNED)

    def _end(self, how: str) -> None:
        self.channel.node.settle(self.delivery_tag, how)
        self._state = "ACK"
