"""Compiled kernels; their sources are in cython_ext/, one operation a module."""
