"""`python -m entlink` is the command line."""

from __future__ import annotations

import sys

from entlink_cli import main

sys.exit(main())
