"""The learned ranking of ``whence locate``: what all techniques say of generated faults, kept, learned and measured."""
