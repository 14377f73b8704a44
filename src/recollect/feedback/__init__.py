"""Signals and confidence: what helped rises, what misled sinks, what is not used fades.

Knows nothing about rendering.
"""
