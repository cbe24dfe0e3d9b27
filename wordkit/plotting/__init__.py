"""Figures, one module a kind; matplotlib (``pip install 'wordkit[plot]'``) is imported inside functions only."""
