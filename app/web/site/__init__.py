"""Parts that the pages of all rooms share, and the pages of none: guide, documents of the API, choice of a language."""
