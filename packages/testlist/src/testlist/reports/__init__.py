"""What is made of inventories: listings, comparisons, and hints for those who ask what a test is about."""
