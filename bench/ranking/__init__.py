"""The learned ranking of ``whence locate``: what all techniques say of generated faults, kept, learned and measured."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for matrices this small threads cost more than they give
