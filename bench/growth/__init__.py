"""How each way through the service grows with what is stored."""
