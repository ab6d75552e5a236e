"""Diagnosis by likely invariants: what held in good runs and does not in a failing one (Sahoo et al., ASPLOS 2013)."""
