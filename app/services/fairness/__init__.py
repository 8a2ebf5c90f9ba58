"""When jobs run, and what users see of it: slot limits, wakes, carriers, waits, reports and simulations."""
