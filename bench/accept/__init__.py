"""How fast the service accepts: `python -m bench.accept [--scenes …]`."""
