"""A standing gallery of difficult problems, each with a truth that this library had no part in."""
