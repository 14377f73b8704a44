"""Benchmarks have a data folder of their own: they do not touch the memories of the person who runs them."""

import atexit
import os
import shutil
import tempfile

if "RECOLLECT_HOME" not in os.environ:
    os.environ["RECOLLECT_HOME"] = _home = tempfile.mkdtemp(prefix="recollect-bench-")
    atexit.register(shutil.rmtree, _home, ignore_errors=True)
