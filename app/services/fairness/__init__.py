"""Who runs when, and what users are told of it: limits, the wake, carriers, waits, reports and simulations."""
