"""Failure-inducing chains: the faulty values from the root cause to the failure, each needed for the next."""
