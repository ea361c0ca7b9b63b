"""A runner that waits for a silent daemon for seconds only: `python impatient.py PYTHON -m agent.runner RUN_DIR`."""

import sys

from agent.runner.__main__ import main
from agent.sandbox import outage

outage.PATIENCE_S = 2.0
sys.exit(main(sys.argv[4:]))
