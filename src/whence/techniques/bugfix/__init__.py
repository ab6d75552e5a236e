"""Fixes of a statement that is suspected: what is known to have mended similar ones, and edits that were tried."""
