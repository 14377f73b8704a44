"""The vocabulary: records, errors, clock, ids, settings, and the Context every room is given.

Pure: knows nothing about SQL, files, models or hosts.
"""
