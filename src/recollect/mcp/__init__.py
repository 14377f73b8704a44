"""The memory for MCP clients: tools, resources and prompts over one `Memory`, on stdio and streamable HTTP.

Knows nothing about sockets and tokens, which are up to `recollect serve`.
"""
