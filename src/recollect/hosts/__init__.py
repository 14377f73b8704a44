"""Agent programs (hosts) that call Recollect at the events of a session: their payloads, hooks and files.

Knows nothing about ranking, rows or files of the memory.
"""
