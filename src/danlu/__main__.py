"""`python -m danlu`: the command line, for machines where the script is not on the PATH."""

from danlu.cli.main import main

if __name__ == "__main__":
    main()
