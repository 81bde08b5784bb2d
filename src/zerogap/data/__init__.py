"""Rows of numbers: storage, validation, and the small datasets of the demo."""
