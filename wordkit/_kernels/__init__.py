"""Compiled kernels; their sources are in cython_ext/, one operation a module."""

import importlib.util

from wordkit.errors import WordkitError


def __getattr__(name: str) -> object:
    """Reached for a kernel that is not there: most likely Python runs in a clone that was never built."""
    if name.startswith("__") or importlib.util.find_spec(f"{__name__}.{name}"):
        raise AttributeError(name)  # the import system goes on to load it
    raise WordkitError(
        f"the compiled kernel {name} is not in {__path__[0]}: this is a source folder; install it with "
        "`pip install -e .`, or run Python in another folder, where the installed wordkit is found"
    )
