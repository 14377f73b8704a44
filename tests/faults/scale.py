"""How often the campaigns try: once in `make test`, many times in `make torture`, which sets RECOLLECT_TORTURE."""

from __future__ import annotations

import os

TORTURE = 34 if os.environ.get("RECOLLECT_TORTURE") else 1
