"""What things are: frozen values without I/O and without behaviour beyond their own invariants."""
