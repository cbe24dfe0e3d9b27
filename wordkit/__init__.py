"""wordkit: learn and evaluate word representations with methods that published papers describe."""

__version__ = "0.1.0"
