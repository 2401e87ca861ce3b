"""The files that options point to: one module per format."""
