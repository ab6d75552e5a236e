"""Inputs: a failing input made small, and good and failing inputs made close to it.

``close_inputs`` is what techniques call; ``reduce_input`` minimises. ``Channel`` says where a case has its input, and
``Judge`` runs candidates and tells what became of each.
"""
