"""``python -m wordkit`` is the command line."""

from wordkit.cli import main

if __name__ == "__main__":
    main()
