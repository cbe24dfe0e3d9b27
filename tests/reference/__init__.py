"""NumPy twins of the kernels, written straight from the papers' equations: slow and obvious."""
