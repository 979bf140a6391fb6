#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Draw the plots of "make bench".

usage: plot.py RESULTS.json DIR

Writes latency.svg, ratio.svg, throughput.svg, rate.svg, read.svg, write.svg and beds.svg to
DIR, each as far as there are results for it. Axes are logarithmic; each line is named where
it ends.
"""

import json
import math
import os
import sys
from html import escape

from aims import CONTENDERS, OURS

WIDTH, HEIGHT = 900, 540
LEFT, RIGHT, TOP, BOTTOM = 80, 190, 56, 64
FONT = "font-family='DejaVu Sans, Verdana, sans-serif'"
# Lines of text that do not touch.
LINE = 16

# Ours are strong colours and thick lines, others are not.
COLOURS = {
    "ioctl": "#d6249f", "write_read": "#c1121f", "queue": "#0353a4", "queue_poller": "#7209b7",
    "queue_regions": "#087f5b", "io_uring": "#e07a00",
    "ib_send": "#222222", "ib_read": "#777777", "ib_write": "#aaaaaa",
    "ib_atomic": "#555555", "floor": "#5b7553", "floor_reply": "#9cb493",
    "rsockets": "#8d6e63", "tcp": "#5e8fb0", "udp": "#8fb8d0", "unix": "#c9a227",
}
DASHES = {"floor": "6 4", "floor_reply": "6 4", "udp": "2 3", "unix": "2 3"}


class Scale:
    """A logarithmic axis between two values, on pixels from begin to end."""

    def __init__(self, values, begin, end, whole=True):
        low, high = min(values), max(values)
        if whole:
            low, high = 10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high))
        if low == high:
            high = low * 10
        self.low, self.high, self.begin, self.end = low, high, begin, end

    def at(self, value):
        part = math.log(value / self.low) / math.log(self.high / self.low)
        return self.begin + part * (self.end - self.begin)

    def ticks(self):
        """Values with whether they are named: 1, 2 and 5 of each power of ten, or more."""
        decades = math.log10(self.high / self.low)
        power = math.floor(math.log10(self.low))
        while 10 ** power <= self.high * 1.0001:
            for digit in (1, 2, 5) if decades > 1.5 else (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9):
                value = digit * 10.0 ** power
                if self.low * 0.9999 <= value <= self.high * 1.0001:
                    yield value, digit == 1 or decades < 2.5
            power += 1


def number(value):
    """3, 0.5, 20,000, 3 M."""
    if value >= 1e6:
        return f"{value / 1e6:g} M"
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def size_of(name):
    """Bytes of "64", "4k", "1m"."""
    factor = {"k": 1 << 10, "m": 1 << 20}.get(name[-1])
    return int(name[:-1]) * factor if factor else int(name)


class Drawing:
    """An SVG picture."""

    def __init__(self, title, subtitle):
        self.parts = [
            f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{HEIGHT}' "
            f"viewBox='0 0 {WIDTH} {HEIGHT}' {FONT}>",
            f"<rect width='{WIDTH}' height='{HEIGHT}' fill='white'/>",
        ]
        self.text(LEFT, 24, title, size=17, weight="bold")
        self.text(LEFT, 43, subtitle, size=12, colour="#555")

    def text(self, x, y, words, size=12, anchor="start", colour="#222", weight="normal",
             turn=None):
        turned = f" transform='rotate({turn} {x:.1f} {y:.1f})'" if turn else ""
        self.parts.append(
            f"<text x='{x:.1f}' y='{y:.1f}' font-size='{size}' text-anchor='{anchor}' "
            f"fill='{colour}' font-weight='{weight}'{turned}>{escape(words)}</text>")

    def line(self, points, colour, width=1.0, dash=None):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashed = f" stroke-dasharray='{dash}'" if dash else ""
        self.parts.append(f"<polyline points='{path}' fill='none' stroke='{colour}' "
                          f"stroke-width='{width}'{dashed}/>")

    def dot(self, x, y, colour, radius):
        self.parts.append(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{radius}' fill='{colour}'/>")

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(self.parts + ["</svg>", ""]))


def spread(places):
    """Move heights apart until no two are closer than a line of text."""
    result, last = {}, -math.inf
    for key, y in sorted(places.items(), key=lambda item: item[1]):
        last = max(y, last + LINE)
        result[key] = last
    below = HEIGHT - BOTTOM + LINE
    for key, y in sorted(result.items(), key=lambda item: -item[1]):
        result[key] = min(y, below)
        below = result[key] - LINE
    return result


def draw_names(drawing, places):
    """Name lines at their right ends; places are (x, y) by contender."""
    x = WIDTH - RIGHT + 26
    heights = spread({c: y for c, (_, y) in places.items()})
    for contender, (end_x, end_y) in places.items():
        y = heights[contender]
        drawing.line([(end_x + 5, end_y), (WIDTH - RIGHT + 12, y), (x - 3, y)],
                     COLOURS[contender], 0.6)
        drawing.text(x, y + 4, CONTENDERS[contender], size=12, colour=COLOURS[contender],
                     weight="bold" if contender in OURS else "normal")


def draw_y_axis(drawing, scale, words):
    for value, named in scale.ticks():
        y = scale.at(value)
        drawing.line([(LEFT, y), (WIDTH - RIGHT, y)], "#ccc" if named else "#eee")
        if named:
            drawing.text(LEFT - 8, y + 4, number(value), anchor="end")
    middle = (TOP + HEIGHT - BOTTOM) / 2
    drawing.text(20, middle, words, size=13, anchor="middle", turn=-90)


def draw_x_ticks(drawing, scale, names, words):
    """Names are texts by value."""
    for value, name in names.items():
        x = scale.at(value)
        drawing.line([(x, TOP), (x, HEIGHT - BOTTOM)], "#eee")
        drawing.text(x, HEIGHT - BOTTOM + 20, name, anchor="middle")
    drawing.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 18, words, size=13, anchor="middle")


def curves(rows, kind):
    """Points by contender, and names by x: of rows whose names begin with a kind."""
    lines, names = {}, {}
    for row in rows:
        name = row["name"].partition("/")[0]
        if not name.startswith(kind):
            continue
        x = size_of(name[len(kind):])
        names[x] = name[len(kind):].upper()
        for contender, value in row["values"].items():
            lines.setdefault(contender, {})[x] = value
    return lines, dict(sorted(names.items()))


def ratios_to(lines, base):
    """The same points as multiples of those of one contender, where that has any."""
    of = lines.get(base, {})
    lines = {c: {x: y / of[x] for x, y in points.items() if x in of}
             for c, points in lines.items()}
    return {c: points for c, points in lines.items() if points}


def draw_curves(rows, kind, title, x_words, y_words, base=None, subtitle=None):
    """A plot with a line for each contender; None where there is not enough for one."""
    lines, names = curves(rows, kind)
    if base:
        lines = ratios_to(lines, base)
        names = {x: name for x, name in names.items() if x in lines.get(base, {})}
    if rows and not subtitle:
        subtitle = subtitle_of(rows)
    return draw_lines(lines, names, title, x_words, y_words, subtitle, whole=not base)


def draw_lines(lines, names, title, x_words, y_words, subtitle, whole=True):
    """A plot with a line for each contender, of points by x; names of x, which are the ticks."""
    lines = {contender: points for contender, points in lines.items() if points}
    if len(names) < 2 or not lines:
        return None
    drawing = Drawing(title, subtitle)
    x_scale = Scale(names, LEFT + 14, WIDTH - RIGHT - 6, whole=False)
    values = [value for points in lines.values() for value in points.values()]
    y_scale = Scale(values, HEIGHT - BOTTOM, TOP, whole=whole)
    draw_y_axis(drawing, y_scale, y_words)
    draw_x_ticks(drawing, x_scale, names, x_words)
    places = {}
    # Ours last: on top.
    for contender in sorted((c for c in CONTENDERS if c in lines), key=lambda c: c in OURS):
        ours = contender in OURS
        points = [(x_scale.at(x), y_scale.at(y)) for x, y in sorted(lines[contender].items())]
        drawing.line(points, COLOURS[contender], 2.6 if ours else 1.5, DASHES.get(contender))
        for x, y in points:
            drawing.dot(x, y, COLOURS[contender], 3.6 if ours else 2.4)
        places[contender] = points[-1]
    draw_names(drawing, places)
    return drawing


def subtitle_of(rows):
    row = rows[0]
    return (f"Linux {row['kernel']}, rxe, one CPU of a guest whose time counts instructions; "
            "both ends in it")


def draw_beds(rows):
    """64 bytes one way beside verbs, in each bed: a line of dots for each."""
    found = {row["bed"]: row for row in rows
             if row["name"].partition("/")[0] == "lat64" and "ib_send" in row["values"]}
    if not found:
        return None
    drawing = Drawing("64 bytes one way, as multiples of verbs (ib_send_lat) in the same boot",
                      "less is better; beds: see Documentation/testing.rst")
    ratios = {bed: {c: value / row["values"]["ib_send"] for c, value in row["values"].items()}
              for bed, row in found.items()}
    values = [ratio for each in ratios.values() for ratio in each.values()]
    scale = Scale(values, LEFT + 40, WIDTH - 40, whole=False)
    for value, _ in scale.ticks():
        x = scale.at(value)
        drawing.line([(x, TOP), (x, HEIGHT - BOTTOM)], "#888" if value == 1 else "#ddd")
        drawing.text(x, HEIGHT - BOTTOM + 20, number(value), anchor="middle")
    drawing.text((LEFT + WIDTH) / 2, HEIGHT - 18, "times the median of ib_send_lat",
                 size=13, anchor="middle")
    step = (HEIGHT - BOTTOM - TOP) / len(ratios)
    for i, (bed, each) in enumerate(ratios.items()):
        draw_bed(drawing, scale, bed, each, TOP + (i + 0.3) * step)
    return drawing


def draw_bed(drawing, scale, bed, ratios, y):
    """One bed: dots on a line, with names that hang below it, each at a height of its own."""
    drawing.line([(LEFT + 30, y), (WIDTH - 30, y)], "#bbb")
    drawing.text(10, y + 4, bed, size=13, weight="bold")
    ends = []
    for contender, ratio in sorted(ratios.items(), key=lambda item: item[1]):
        x, name = scale.at(ratio), CONTENDERS[contender]
        width = 6.3 * len(name)
        row = next((i for i, end in enumerate(ends) if end < x - width / 2), len(ends))
        ends[row:row + 1] = [x + width / 2 + 4]
        below = y + 20 + 13 * row
        drawing.line([(x, y), (x, below - 10)], COLOURS[contender], 0.6)
        drawing.dot(x, y, COLOURS[contender], 4.5 if contender in OURS else 3.2)
        drawing.text(x, below, name, size=11, anchor="middle", colour=COLOURS[contender],
                     weight="bold" if contender in OURS else "normal")


def plots(rows, directory):
    counted = [row for row in rows if row["bed"] == "icount"]
    pictures = {"beds": draw_beds(rows)}
    if counted:
        pictures["latency"] = draw_curves(
            counted, "lat", "One way of a message (half a round trip; less is better)",
            "bytes of a message", "thousand instructions")
        pictures["ratio"] = draw_curves(
            counted, "lat", "One way of a message, as multiples of verbs, SEND (less is better)",
            "bytes of a message", "times the median of ib_send_lat", base="ib_send")
        pictures["throughput"] = draw_curves(
            counted, "tput", "Messages in one direction (more is better)",
            "bytes of a message", "megabytes per 10^9 instructions")
        pictures["rate"] = draw_curves(
            counted, "rate", "Messages of 64 bytes in one direction (more is better)",
            "channels (of 8 processes, if there are so many)",
            "messages per 10^9 instructions")
        pictures["read"] = draw_curves(
            counted, "read", "READ of memory that the peer lends (less is better)",
            "bytes", "thousand instructions")
        pictures["write"] = draw_curves(
            counted, "write", "WRITE to memory that the peer lends (less is better)",
            "bytes", "thousand instructions")
    for name, drawing in pictures.items():
        if drawing:
            drawing.write(os.path.join(directory, name + ".svg"))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        plots(json.load(file), sys.argv[2])


if __name__ == "__main__":
    main()
