"""What tests and benchmarks of the service share: the application in this process, and stand-ins for its surroundings."""
