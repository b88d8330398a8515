"""Hooks: what a plugin may take part in, and the caller that awaits them."""
