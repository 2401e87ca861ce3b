"""Text with places: bytes to text, offsets to lines and columns, JSON, lines, near words.

Nothing here knows what a text means.
"""
