"""Signals and confidence: what helped rises, what misled sinks, what nobody uses fades.

Knows nothing about rendering.
"""
