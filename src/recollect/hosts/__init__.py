"""Hosts: what an agent program tells us at an event, in our words, and our answer in its form.

One flow for all (`flow`); a module per host that only reads payloads and forms answers. `setup` writes a host's own
configuration; `memory_tool` answers the file commands of Anthropic's API. Knows nothing about ranking, rows or files of
the memory.
"""
