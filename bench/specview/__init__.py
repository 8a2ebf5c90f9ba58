"""What specifications take: `python -m bench.specview.model`."""
