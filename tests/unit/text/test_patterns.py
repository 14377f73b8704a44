"""Patterns are compiled on first use, and behave as compiled ones do."""

import re
import subprocess
import sys

from recollect.text.markdown import lazy


def test_a_lazy_pattern_behaves_as_a_compiled_one() -> None:
    pattern = lazy(r"(a+)b", re.IGNORECASE)
    assert pattern.sub(r"\1", "AAb ab") == "AA a"
    assert pattern.findall("AAb ab") == ["AA", "a"]
    assert pattern.flags & re.IGNORECASE


def test_importing_the_comparing_modules_compiles_and_stems_nothing() -> None:
    looked = (
        "import sys; from recollect.text import compare, quality, markers, cluster, documents\n"
        "from recollect.text.quality import _FOREIGN\n"
        "print('Stemmer' in sys.modules, '_compiled' in vars(_FOREIGN))"
    )
    done = subprocess.run([sys.executable, "-c", looked], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
