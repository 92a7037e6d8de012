"""Compiled code does what its source says: Python, run without the compiler, agrees."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import plain_python
import pytest


@pytest.mark.slow
def test_compiled_code_agrees_with_plain_python(tmp_path):
    # Python also refuses an index beyond the end, which compiled code reads.
    script = Path(plain_python.__file__)
    command = [sys.executable, str(script), str(tmp_path / "plain.npz")]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    compiled, plain = plain_python.answers(), np.load(tmp_path / "plain.npz")
    assert sorted(plain) == sorted(compiled)
    for name, value in compiled.items():
        assert value.size
        # Single precision stays single in Python, and a polish carries it further.
        np.testing.assert_allclose(value, plain[name], rtol=1e-5, atol=1e-5, err_msg=name)
