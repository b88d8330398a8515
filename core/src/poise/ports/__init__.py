"""What a plugin may implement: abstract base classes, one file per family."""
