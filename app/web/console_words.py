"""What the numbers of the operator's pages mean, shown with each of them."""

from __future__ import annotations

#: By the heading of its column, or by what a line names.
COLUMNS = {
    "Ready": "Messages that a worker may take now. Their jobs are queued.",
    "Oldest": "How long the oldest ready message has been ready. If this grows, the workers do not keep up.",
    "At work": "Messages that a worker holds: their jobs run, or are about to.",
    "Waiting": "Messages that no worker may take yet. Their jobs wait for a slot of their own user "
    "(parked or snoozed), or for their next attempt. The workers are not the cause.",
    "Dead": "Messages that were given up: their workers died too often, or nobody could read them.",
    "Busy": "How many messages the worker holds, of how many it takes at once.",
    "Last seen": "When the worker's session with the database last did something.",
    "Running": "Jobs of the user that run now, of how many may run at once.",
    "A job takes": "How long the user's recent jobs held a slot, on average.",
    "Jobs": "Jobs that were accepted in this window and have started.",
    "p50": "Half of the jobs waited less than this many seconds from the accept to the first start.",
    "p95": "Of twenty jobs, nineteen waited less than this many seconds from the accept to the first start.",
    "Not started": "Jobs that were accepted in this window and have not started yet.",
    "Users": "How many users had waiting jobs in the queue in this hour.",
    "Failed": "Jobs that ended as failed in this window. They were billed to nobody.",
    "Affected users": "How many users asked for these jobs first. Scheduled jobs have no user.",
    "Repositories": "How many repositories these jobs were for.",
    "Index": "How evenly they shared the workers' time, weighted by tier: 1 is even, and 1 of n users alone gives 1/n.",
}
#: Why the broker gave a message up.
REASONS_IN_WORDS = {
    "lost": "The worker died during each of its deliveries.",
    "rejected": "The task refused the message.",
    "undecodable": "No worker could read the message.",
}
#: The actions of the audit log.
ACTIONS = {
    "dead.drop": "Dropped dead letters",
    "dead.redrive": "Redrove dead letters",
    "github.link": "Linked a GitHub account",
    "github.unlink": "Unlinked a GitHub account",
    "job.revoke": "Cancelled a job",
    "passkey.add": "Added a passkey",
    "passkey.remove": "Removed a passkey",
    "plan.limit": "Changed the limit of a tier",
    "queue.pause": "Paused a queue",
    "queue.resume": "Resumed a queue",
    "schedule.change": "Changed the schedule",
    "schedule.run": "Ran an entry of the schedule at once",
    "token.revoke": "Revoked a token",
    "user.add": "Added a user",
    "user.delete": "Deleted a user",
    "user.limit": "Changed the limit of a user",
    "user.email": "Verified the address of a user",
    "user.password": "Changed the password of a user",
    "user.tier": "Changed the tier of a user",
}
#: What each entry of the schedule does.
ENTRIES = {
    "prune": "Deletes rows that have expired, and rows that nothing refers to.",
    "reconcile": "Compares completed jobs with their bills.",
    "reschedule": "Analyses viewed repositories again whose newest commit changed.",
    "sweep": "Removes what dead processes left behind, such as reservations and slots.",
}
