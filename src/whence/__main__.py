"""``python -m whence``: the console script where no script was installed, or another one comes first."""

from whence.cli import main

main()
