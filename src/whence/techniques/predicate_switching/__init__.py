"""Branches of failing runs that go the other way: predicate switching, and the dependences that it verifies."""
