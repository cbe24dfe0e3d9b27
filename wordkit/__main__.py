"""The command line: ``python -m wordkit``, and the script ``wordkit``."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is still being loaded ends it as at any other time."""
    try:
        from wordkit.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("wordkit: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
