"""From the user's own build to instrumented variants: compiler wrapper, IR store, re-linking."""
