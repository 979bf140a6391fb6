#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Check that the pages of Documentation can be read, and refer to what there is.

usage: rst.py [DIRECTORY]

Prints TAP, a test for each page, with a line "# page:line: what" for each finding, and exits 1
if there is one. What only Sphinx knows stands for itself here; pages that are referred to must
be there, and be in a table of contents. Needs python3-docutils.
"""

import os
import re
import sys

import docutils.core
from docutils import nodes
from docutils.parsers.rst import Directive, directives, roles


class OfSphinx(Directive):
    """A directive that only Sphinx knows; its contents are not read."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = None

    def run(self):
        return []


def register():
    for name in ("doc", "ref"):
        roles.register_generic_role(name, nodes.literal)
    for name in ("toctree", "kernel-doc"):
        directives.register_directive(name, OfSphinx)


class Findings:
    """What docutils would print, as lines of TAP."""

    def __init__(self):
        self.lines = []

    def write(self, text):
        self.lines += [line for line in text.splitlines() if line.strip()]


def pages_named(page, text):
    """Pages that a page refers to, and those of its table of contents."""
    named = re.findall(r":doc:`(?:[^`<]*<)?([^`<>]+)>?`", text)
    contents = []
    for table in re.findall(r"^\.\. toctree::\n((?:[ \t].*\n|\n)*)", text, re.M):
        contents += re.findall(r"^[ \t]+([\w/-]+)[ \t]*$", table, re.M)
    # A name that begins with a slash counts from the top, any other from the page's folder.
    place = "/" + os.path.dirname(page)
    return [[os.path.normpath(os.path.join(place, name)).lstrip("/") for name in names]
            for names in (named, contents)]


def pages_below(top):
    """Names of all pages, without .rst, the top's first."""
    found = []
    for place, folders, files in os.walk(top):
        folders.sort()
        found += [os.path.relpath(os.path.join(place, name[:-4]), top)
                  for name in sorted(files) if name.endswith(".rst")]
    return found


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    top = sys.argv[1] if sys.argv[1:] else os.path.join(here, "..", "..", "Documentation")
    pages = pages_below(top)
    texts = {}
    for page in pages:
        with open(os.path.join(top, page + ".rst"), encoding="utf-8") as file:
            texts[page] = file.read()
    found_in_contents = {name for page, text in texts.items() for name in pages_named(page, text)[1]}
    register()
    bad = not pages
    print(f"1..{len(pages)}")
    if not pages:
        print(f"# there are no pages in {top}")
    for number, page in enumerate(pages, 1):
        findings = Findings()
        docutils.core.publish_doctree(
            texts[page], source_path=page + ".rst",
            settings_overrides={"report_level": 2, "halt_level": 5, "warning_stream": findings,
                                "input_encoding": "unicode", "syntax_highlight": "none"})
        lines = findings.lines
        named, contents = pages_named(page, texts[page])
        lines += [f"{page}.rst: there is no page {name}"
                  for name in named + contents if name not in texts]
        if page not in found_in_contents and page != "index":
            lines.append(f"{page}.rst: is in no table of contents")
        for line in lines:
            print("#", line)
        bad += bool(lines)
        print("not ok" if lines else "ok", number, "-", page)
    sys.exit(bad > 0)


main()
