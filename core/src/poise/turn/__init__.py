"""What a turn is made of: frozen values without I/O."""
