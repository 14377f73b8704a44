"""The memory for MCP clients: few tools, resources and prompts over one `Memory`, on stdio and on streamable HTTP.

Knows nothing about sockets and tokens (`recollect serve` does) nor about how anything is found or kept.
"""
