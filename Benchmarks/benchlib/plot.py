# SPDX-License-Identifier: Apache-2.0
"""The two plots, as SVG that is legible on light and dark pages and at half its size.

Colours: Okabe and Ito's, which colour-blind people tell apart; what is Haul's is blue and bold besides.
"""

import math
from html import escape

STYLE = """\
svg { font-family: ui-sans-serif, system-ui, "Helvetica Neue", Arial, sans-serif; font-size: 17px; }
.back { fill: #ffffff; } .text { fill: #1c1c1c; } .soft { fill: #5a5a5a; } .grid { stroke: #d9d9d9; stroke-width: 1; }
.haul { fill: #0072b2; } .peer { fill: #b4b4b4; } .line { stroke: #0072b2; stroke-width: 4; fill: none; }
.auto { fill: #d55e00; } .autoline { stroke: #d55e00; stroke-width: 3; stroke-dasharray: 8 6; }
.bold { font-weight: 700; }
.title { font-size: 22px; font-weight: 700; } .head { font-size: 18px; font-weight: 700; }
@media (prefers-color-scheme: dark) {
  .back { fill: #0d1117; } .text { fill: #f0f3f6; } .soft { fill: #a9b1ba; } .grid { stroke: #30363d; }
  .haul { fill: #56b4e9; } .peer { fill: #6e7681; } .line { stroke: #56b4e9; }
  .auto { fill: #ffa657; } .autoline { stroke: #ffa657; }
}"""

WIDTH = 1000
LABEL = 190
BAR, GAP = 22, 7


def _svg(height, parts, description):
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">\n'
            f"<title>{escape(description)}</title>\n<style>{STYLE}</style>\n"
            f'<rect class="back" width="{WIDTH}" height="{height}"/>\n{body}\n</svg>\n')


def _text(x, y, words, kind="text", anchor="start"):
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _seconds(value):
    return f"{value:.0f} s" if value >= 20 else f"{value:.1f} s" if value >= 2 else f"{value:.2f} s"


def times_plot(groups):
    """A bar for each tool in each scenario: wall time, and how many times that of Haul it is. None without figures."""
    groups = [group for group in groups if _is_for_times(group)]
    if not groups:
        return None
    parts, y = [_text(24, 40, "Time to fetch one file: shorter is better", "text title")], 64
    for group in groups:
        y += 30
        parts.append(_text(24, y, group.title, "text head"))
        y += 12
        rows = [entry for entry in group.entries if entry.absent is None]
        haul = rows[0].median("wall")
        longest = max(entry.median("wall") or 0 for entry in rows)
        # Bars that would dwarf all others are cut, and say so.
        scale = (WIDTH - LABEL - 190) / min(longest, 8 * haul)
        for entry in rows:
            y += BAR + GAP
            parts += _bar(entry, haul, scale, y, 8 * haul)
        y += 10
    return _svg(y + 24, parts, "Wall time of each downloader in each scenario")


def _is_for_times(group):
    return group.name not in ("connections", "version", "long", "durable", "digest", "tls") and \
        group.entries[0].median("wall") is not None and len(group.entries) > 1


def _bar(entry, haul, scale, y, cut):
    is_haul = entry.name.startswith("haul")
    kind = "text bold" if is_haul else "text"
    parts = [_text(LABEL, y - 5, entry.name, kind, "end")]
    wall = entry.median("wall")
    if wall is None:
        return parts + [_text(LABEL + 12, y - 5, "failed: " + (entry.failure or "")[:60], "soft")]
    width = max(2.0, min(wall, cut) * scale)
    parts.append(f'<rect class="{"haul" if is_haul else "peer"}" x="{LABEL + 12}" y="{y - BAR}" width="{width:.1f}" '
                 f'height="{BAR}" rx="2"/>')
    if wall > cut:
        x = LABEL + 12 + width - 26
        parts.append(f'<path class="back" d="M{x:.0f} {y + 2} l8 -{BAR + 4} h8 l-8 {BAR + 4} z"/>')
    ratio = "" if is_haul and wall == haul else f"  ({wall / haul:.2f}×)"
    return parts + [_text(LABEL + 20 + width, y - 5, _seconds(wall) + ratio, kind)]


def connections_plot(groups):
    """Goodput over connections, with Haul's own choice as a line across. None without figures."""
    group = next((group for group in groups if group.name == "connections"), None)
    if group is None or group.bytes is None:
        return None
    points = []
    for entry in group.entries:
        count = entry.name.rpartition(" ")[2]
        if count != "auto" and entry.median("wall"):
            points.append((int(count), group.bytes / entry.median("wall") / 1e6))
    auto = next((group.bytes / entry.median("wall") / 1e6 for entry in group.entries
                 if entry.name.endswith("auto") and entry.median("wall")), None)
    if len(points) < 2 or auto is None:
        return None
    left, top, right, bottom = 90, 90, WIDTH - 40, 480
    most = _nice(max([auto, *(goodput for _, goodput in points)]) * 1.05)
    last = math.log2(points[-1][0])

    def place(count, goodput):
        return left + (right - left) * math.log2(count) / last, bottom - (bottom - top) * goodput / most

    parts = [_text(24, 40, "Goodput over connections", "text title"), _text(24, 66, group.title, "soft")]
    for step in range(6):
        value = most * step / 5
        _, y = place(1, value)
        parts.append(f'<path class="grid" d="M{left} {y:.1f} H{right}"/>')
        parts.append(_text(left - 10, y + 6, f"{value:g}", "soft", "end"))
    for count, _ in points:
        x, _ = place(count, 0)
        parts.append(_text(x, bottom + 26, str(count), "soft", "middle"))
    parts += [_text((left + right) / 2, bottom + 54, "connections (-c)", "text", "middle"),
              f'<text class="text" transform="translate(28 {(top + bottom) / 2}) rotate(-90)" '
              'text-anchor="middle">MB/s</text>']
    path = " L".join(f"{x:.1f} {y:.1f}" for x, y in (place(*point) for point in points))
    parts.append(f'<path class="line" d="M{path}"/>')
    parts += [f'<circle class="haul" cx="{x:.1f}" cy="{y:.1f}" r="7"/>' for x, y in (place(*point) for point in points)]
    _, y = place(1, auto)
    parts += [f'<path class="autoline" d="M{left} {y:.1f} H{right}"/>',
              _text(left + 12, y - 10, f"what Haul finds by itself: {auto:.1f} MB/s", "auto bold")]
    return _svg(bottom + 76, parts, "Goodput over the number of connections")


def _nice(value):
    """The next larger number that divides well by five."""
    unit = 10 ** math.floor(math.log10(value))
    return next(factor * unit for factor in (1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10) if factor * unit >= value)
