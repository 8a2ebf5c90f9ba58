"""Who waits how long: our service next to raw loops with other orders."""
