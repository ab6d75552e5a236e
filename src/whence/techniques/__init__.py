"""One module or package for each way of locating a fault; all of them return findings."""
