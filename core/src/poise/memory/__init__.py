"""In-memory stores, bus and dispatcher: the reference implementations of their ports."""
