# SPDX-License-Identifier: GPL-2.0
"""What "make check" holds the module to on a wire with a length: rows of trips_guest.py.

A row, by which way, and a bound that is what was measured: round trips, or of a stream thousand
bytes a round trip. Time is virtual, so that nothing but the module changes it. "longer" is by how
much a stream differs later, as more messages have gone: what is measured does not depend on that.
"""

BOUNDS = (
    ("open_first", "calls", "at most", 2),
    ("open", "calls", "at most", 1),
    ("echo0", "calls", "at most", 1),
    ("echo64", "queue", "at most", 1),
    ("echo64k", "calls", "at most", 3),
    ("echo64k", "regions", "at most", 1),
    ("echo1m", "calls", "at most", 7),
    ("echo1m", "regions", "at most", 5),
    ("stream64k", "calls", "at least", 65.5),
    ("stream64k", "queue", "at least", 260),
    # Its bursts have more than one rhythm: from 229 on.
    ("stream64k", "regions", "at least", 225),
    ("longer", "queue", "at most", 0),
    ("read64k", "calls", "at most", 1),
    ("write64k", "queue", "at most", 1),
    ("add", "calls", "at most", 1),
    ("touch", "calls", "at most", 1.5),
    ("revoke", "calls", "at most", 1),
)
