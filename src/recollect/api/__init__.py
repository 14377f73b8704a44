"""Surfaces for programs: JSON-RPC here, HTTP beside it. Thin: everything goes through `Memory`."""
