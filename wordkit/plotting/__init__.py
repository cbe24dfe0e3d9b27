"""Figures, one module a kind; matplotlib (the extra ``plot``) is imported inside functions only."""
