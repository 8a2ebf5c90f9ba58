"""The directory of a service with several cells, and what each cell knows of the keys of its accounts."""
