"""What an author writes, translated to values."""
