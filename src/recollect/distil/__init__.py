"""Shrinking what was captured into something that fits a prompt, and settling what only a person may settle.

Knows nothing about hosts or surfaces.
"""
