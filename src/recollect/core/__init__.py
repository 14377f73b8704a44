"""The vocabulary: records, errors, clock, ids, settings, and the Context that every room is given.

Knows nothing about SQL, files, models or hosts.
"""
