"""How the service reaches what is outside of it: Git, a sandbox, the broker, a language model, the URLs of users."""
