"""One job of either service: its JSON, its page and its stream."""
