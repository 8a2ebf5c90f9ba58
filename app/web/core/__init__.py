"""Steps of every request, and parts that every room uses: identity, languages, problems, OpenAPI."""
