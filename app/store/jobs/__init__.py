"""Data of a job that both services share: its request, message, record, slot, events and bill."""
