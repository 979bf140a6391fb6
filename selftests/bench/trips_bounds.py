# SPDX-License-Identifier: GPL-2.0
"""What "make check" holds the module to on a wire with a length: rows of trips_guest.py.

A row, by which way, and a bound that is what was measured: round trips, or of a stream thousand
bytes a round trip. Time is virtual, so that nothing but the module changes it. "longer" is by how
much a stream differs later, as more messages have gone: what is measured does not depend on that.
"""

BOUNDS = (
    ("open_first", "calls", "at most", 2),
    ("open", "calls", "at most", 1),
    ("ask_first", "calls", "at most", 2),
    ("ask", "calls", "at most", 1),
    ("ask", "queue", "at most", 1),
    ("echo0", "calls", "at most", 1),
    ("echo64", "queue", "at most", 1),
    ("echo64k", "calls", "at most", 1),
    ("echo64k", "regions", "at most", 1),
    ("echo256k", "queue", "at most", 1),
    ("echo1m", "calls", "at most", 5),
    ("echo1m", "queue", "at most", 3),
    ("stream64", "calls", "at least", 346),
    ("stream4k", "calls", "at least", 313),
    ("stream4k", "queue", "at least", 313),
    ("stream64k", "calls", "at least", 366),
    ("stream64k", "queue", "at least", 366),
    ("stream64k", "regions", "at least", 340),
    ("stream1m", "calls", "at least", 524),
    ("longer", "queue", "at most", 0),
    ("read64k", "calls", "at most", 1),
    ("write64k", "queue", "at most", 1),
    ("add", "calls", "at most", 1),
    ("touch", "calls", "at most", 1.5),
    ("revoke", "calls", "at most", 1),
)
