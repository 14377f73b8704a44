"""The command line: a thin surface over `Memory`.

Knows how to read arguments and print results; knows nothing about how anything is done.
"""
