"""The admin: queues to pause and resume, dead letters to redrive and drop, and nodes and limits to look at.

Permissions: who may view a queue or dead letter sees it; "change" is needed to pause, resume and redrive, "delete" to
drop.  Nothing is edited in a form.
"""

from collections.abc import Callable
from typing import Any

from celery import current_app
from django.contrib import admin, messages
from django.db import connections, transaction

from celery_durable import dead_letters, queues

from .aliases import broker_options, default_alias
from .models import BrokerDeadLetter, BrokerFacts, BrokerLimit, BrokerNode


class ReadOnlyAdmin(admin.ModelAdmin):
    """Pages without forms; the permissions are those of the actions."""

    actions_on_bottom = False
    show_full_result_count = False

    def has_add_permission(self, _: Any) -> bool:
        """Refuse."""
        return False

    def has_change_permission(self, *_: Any) -> bool:
        """Refuse: rows are changed by actions only."""
        return False

    def has_delete_permission(self, *_: Any) -> bool:
        """Refuse: rows are deleted by actions only."""
        return False

    def has_act_permission(self, request: Any) -> bool:
        """Whether the user may pause, resume or redrive."""
        return self._may(request, "change")

    def has_drop_permission(self, request: Any) -> bool:
        """Whether the user may drop dead letters."""
        return self._may(request, "delete")

    def _may(self, request: Any, verb: str) -> bool:
        return bool(request.user.has_perm(f"{self.opts.app_label}.{verb}_{self.opts.model_name}"))


def _committed(act: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of this package in a transaction of the broker's database."""
    alias = default_alias()
    with transaction.atomic(using=alias):
        return act(connections[alias], *arguments, options=broker_options(current_app))


@admin.register(BrokerFacts)
class QueueAdmin(ReadOnlyAdmin):
    """Queues with their numbers."""

    list_display = ("queue", "paused", "ready", "oldest_seconds", "leased", "delayed", "parked", "dead")
    ordering = ("queue",)
    actions = ("pause", "resume")

    @admin.action(description="Pause the delivery of selected queues", permissions=["act"])
    def pause(self, request: Any, queryset: Any) -> None:
        """Pause the selected queues."""
        self._each(request, queryset, queues.pause, "paused")

    @admin.action(description="Resume the delivery of selected queues", permissions=["act"])
    def resume(self, request: Any, queryset: Any) -> None:
        """Resume the selected queues."""
        self._each(request, queryset, queues.resume, "resumed")

    def _each(self, request: Any, queryset: Any, act: Callable[..., None], what: str) -> None:
        names = sorted(queryset.values_list("queue", flat=True))
        for name in names:
            _committed(act, name)
        self.message_user(request, f"{what}: {', '.join(names)}")


@admin.register(BrokerDeadLetter)
class DeadLetterAdmin(ReadOnlyAdmin):
    """Dead letters, newest first."""

    list_display = ("id", "queue", "task_id", "group_name", "reason", "delivery_count", "lost_count", "died_at")
    list_filter = ("reason", "queue")
    search_fields = ("task_id", "group_name")
    ordering = ("-id",)
    actions = ("redrive", "drop")

    def get_queryset(self, request: Any) -> Any:
        """Leave payloads out of the list; the page of one letter reads its own."""
        return super().get_queryset(request).defer("payload")

    @admin.action(description="Redrive selected dead letters", permissions=["act"])
    def redrive(self, request: Any, queryset: Any) -> None:
        """Put the selected letters back on their queues."""
        done = _committed(dead_letters.redrive, list(queryset.values_list("id", flat=True)))
        self.message_user(request, f"redriven: {len(done.put)}")
        for letter, why in done.kept.items():
            self.message_user(request, f"{letter} stays dead: {why}", messages.WARNING)

    @admin.action(description="Drop selected dead letters", permissions=["drop"])
    def drop(self, request: Any, queryset: Any) -> None:
        """Delete the selected letters for good."""
        gone = _committed(dead_letters.drop, list(queryset.values_list("id", flat=True)))
        self.message_user(request, f"dropped: {len(gone)}")


@admin.register(BrokerNode)
class NodeAdmin(ReadOnlyAdmin):
    """Worker nodes."""

    list_display = ("name", "is_alive", "queues", "prefetch_count", "since", "seen_at")
    ordering = ("name",)


@admin.register(BrokerLimit)
class LimitAdmin(ReadOnlyAdmin):
    """Limits of starts."""

    list_display = ("queue", "task", "tenant", "per_tenant", "rate", "burst", "waiting")
    list_filter = ("per_tenant",)
    ordering = ("queue__name", "id")
