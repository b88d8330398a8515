"""The order of a turn, and the gates it may not be led around."""
