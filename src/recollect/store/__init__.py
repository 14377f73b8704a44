"""All SQL, files and git.

Row code is written once for both engines; an engine module holds only connection, types, the write lock and the word
index. Knows nothing about why a row is written.
"""
