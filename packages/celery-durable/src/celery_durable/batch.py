"""kombu's `Producer.batch`: messages that are stored together."""

from collections.abc import Callable, Sequence
from typing import Any

from .envelope import Letter


class PublishBatch:
    """What `Producer.batch` collects into.  send: (letters), stores them."""

    def __init__(self, channel: Any, send: Callable[[Sequence[Letter]], None], max_size: int) -> None:
        self.channel = channel
        self.letters: list[Letter] = []
        self._send, self._max_size = send, max_size

    def publish(self, message: Any, **options: Any) -> None:
        """As the channel's basic_publish; stored with the rest."""
        self.channel.collect(self.letters, message, **options)
        if len(self.letters) >= self._max_size:
            self.flush()

    def flush(self) -> None:
        """Store what was collected.  Raises what `put` does; the letters are kept then."""
        self._send(self.letters)
        self.letters.clear()

    def discard(self) -> None:
        """Forget what was not stored."""
        self.letters.clear()

    def close(self) -> None:
        """Nothing is held besides the letters."""
