"""One module per step, numbered in order."""
