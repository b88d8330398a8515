"""The test kit: conformance suites for ports, scripted models, frozen clocks, strategies."""
