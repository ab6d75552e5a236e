"""Cases, oracles, the sandbox, the fork server and the recorder."""
