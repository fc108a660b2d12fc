"""`python -m simengine2d` is the command `simengine2d`."""

from .cli import main

if __name__ == "__main__":
    main()
