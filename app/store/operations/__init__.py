"""What operators and beat read and clean up."""
