"""What both services share of a job: its request, message, record, slot, events and bill."""
