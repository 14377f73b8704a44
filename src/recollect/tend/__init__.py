"""What touches every room: the cycle, status, doctor, transfer, purge. Knows nothing about surfaces."""
