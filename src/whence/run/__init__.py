"""Cases, oracles, the sandbox, the fork server and the recorder.

What others use: ``config.read_config``, ``cases.load_cases`` and ``cases.cases_from_options``, ``runner.Runner``,
``expectations.learn_expected``, ``oracle.judge``. Nothing is imported here, so that a command loads
what it needs.
"""
