"""Compiled kernels of wordkit; everything else about the build is in pyproject.toml.

WORDKIT_NATIVE=1 compiles for this machine's processor only; WORDKIT_DEBUG=1 builds with bounds checks.
"""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

debug = os.environ.get("WORDKIT_DEBUG") == "1"

if sys.platform == "win32":
    compile_args = ["/Od"] if debug else ["/O2"]
else:
    # No contraction of a*b+c: the same bits come out whichever vector instructions a processor has.
    # Nobody reads errno after a square root; while it must be set, no loop with a root is vectorized.
    # Nobody reads the processor's floating-point flags or traps on them; while an operation must not be done where the source
    # does not do it, no loop with a choice in it (x < 0 ? a : b) is vectorized. No result changes by either.
    compile_args = ["-O1" if debug else "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
    if os.environ.get("WORDKIT_NATIVE") == "1":
        compile_args.append("-march=native")

setup(
    options={"build_ext": {"parallel": os.cpu_count()}},
    ext_modules=cythonize(
        [
            Extension(
                f"wordkit._kernels.{path.stem}", [f"cython_ext/{path.name}"], extra_compile_args=compile_args
            )
            for path in sorted(Path(__file__).parent.joinpath("cython_ext").glob("*.pyx"))
        ],
        include_path=["cython_ext"],  # where the shared .pxd pieces are
        compiler_directives={
            "language_level": "3",
            "boundscheck": debug,
            "wraparound": False,
            "cdivision": not debug,
            "initializedcheck": debug,
            "embedsignature": True,
        },
    ),
)
