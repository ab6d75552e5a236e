"""Techniques joined: ``locate``, which asks them all, and those that others confirm or complete."""
