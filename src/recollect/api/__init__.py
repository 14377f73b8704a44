"""The server's surfaces: REST, JSON-RPC and the page. Everything goes through `Memory`."""
