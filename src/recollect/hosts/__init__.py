"""Hosts: agent programs that call us at the events of a session.

`payloads` reads what each host sends and forms the answer, `hook` answers an event, `install` writes hosts' own files,
`memory_tool` answers the file commands of Anthropic's API. Knows nothing about ranking, rows or files of the memory.
"""
