"""Entry point of `python -m arbitre`."""

from arbitre.cli import main

if __name__ == "__main__":
    main()
