"""How often the campaigns try: once in `make test`, many times in `make torture`, which sets how many.

A campaign is the same test again with another seed and a fresh project, so a night takes a multiple of a test's time.
"""

from __future__ import annotations

import os

import pytest

TORTURE = int(os.environ.get("RECOLLECT_TORTURE", "1"))
campaign = pytest.mark.parametrize("seed", range(TORTURE))
