"""What is put in front of an agent, within a budget.

Knows nothing about how it is transported.
"""
