"""Formula-based localisation: the sets of statements whose change can make a failing run right."""
