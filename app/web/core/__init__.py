"""What every request passes, and what every room uses: identity, languages, problems, OpenAPI."""
