"""All SQL, files and git."""
