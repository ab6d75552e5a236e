"""A soak: subjects generated at random, each through every command of ``whence``, with all that must hold checked.

    python -m bench.soak --seeds 0-199 --budget 3s [--commands locate,values] [--busy] [--work FOLDER]

``generate.py`` makes a subject from a seed alone: a C program composed of small fragments (``fragments/*.c``: calm ones
that compute, wild ones that crash, hang, flood, fork, or harm what is around them), its inputs, what is right, and how
the cases are given (options, or a ``whence.toml`` with a folder, a file of command lines or a command).
``commands.py`` says how each command is called, ``keeper.py`` runs one under a watchdog in name spaces of its own
(where the user may make them), ``judge.py`` has what must hold:

- exit status 0, 1 or 2; no internal error, no traceback; JSON valid by the schema; no control characters;
- status 2 comes with one line that says what is wrong, and help; no result is empty without a reason;
- no process is left, no file in ``/dev/shm``, ``TMPDIR``, the current folder or the subject's;
- no more than a bound of memory is taken at any time;
- the wall time is at most 1.1 times the budget and the time that an interpreter takes to start and import what Whence
  imports, and that a build of the program takes, which no budget counts, both measured beside it: variants and compiled
  kernels are made before.

Each violation is printed with seed and command, so that ``--seeds N --commands C`` repeats it. Results are kept in the
work folder (``results.jsonl``); what is there for the same state of the sources is not run again.
"""
