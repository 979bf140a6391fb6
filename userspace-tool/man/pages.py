#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Make manual pages of section 3 of a header: one page for each function in it.

usage: pages.py HEADER OVERVIEW DIRECTORY

What a page says is the kernel-doc comment of the function, so that it is written once. OVERVIEW
is the page that all of them refer to, and has their date. A function without such a comment, or
with one that cannot be shown as it is meant, is an error: "HEADER: FUNCTION: what".
"""

import os
import re
import sys
import textwrap

COMMENT = re.compile(r"/\*.*?\*/", re.S)
DOCUMENTED = re.compile(r"/\*\*\n \* (rdmachan_\w+)\(\) - (.*?)\n(.*?) \*/", re.S)
PROTOTYPE = re.compile(r"^(\w[^;{}#]*?[ *])(rdmachan_\w+)\(([^;{}]*)\);", re.M)
PARAMETER = re.compile(r"^@(\w+): (.+(?:\n\t.*)*)", re.M)
MARK = re.compile(r"""``(?P<literal>[^`]+)``
    | (?<!\w)%(?P<constant>[A-Z]\w+)
    | (?<!\w)@(?P<parameter>\w+)
    | &(?P<type>(?:(?:struct|enum)\ )?\w+(?:\.\w+)?)
    | \b(?P<function>rdmachan_\w+)\(\)
    | \b(?P<errno>E[A-Z0-9]{3,})\b""", re.X)
STRAY = re.compile(r"[`&@\\]|(?<!\w)%\w|\bReturn:")
SYNOPSIS_WIDTH = 72
# Names are not divided, as they are what is looked for; some leave no room between them above.
BEGIN = r""".\" SPDX-License-Identifier: MIT
.\" Made by pages.py; do not edit
.TH {name} 3 "{date}" librdmachan "\&"
.nh
.ad l
.SH NAME
{name} \- {summary}
.SH LIBRARY
librdmachan; pkg\-config name \fBlibrdmachan\fR
.SH SYNOPSIS
.nf
.B #include <librdmachan.h>

{synopsis}
.fi
.SH DESCRIPTION"""


class Bad(Exception):
    """Something that cannot be shown."""


def verbatim(text):
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^(?=[.'])", r"\\&", text)


class Page:
    """A function: its prototype and its comment."""

    def __init__(self, prototype, comment, functions):
        kind, self.name, arguments = (" ".join(part.split()) for part in prototype)
        self.begin, self.functions, self.seen = (kind + " ").replace("* ", "*"), functions, set()
        # A comma within parentheses belongs to a pointer to a function.
        self.arguments = [] if arguments == "void" else re.split(r", (?![^(]*\))", arguments)
        found = [re.search(r"\(\*(\w+)\)|(\w+)$", argument) for argument in self.arguments]
        self.names = [name[1] or name[2] for name in found]
        self.summary = comment[0]
        lines = re.sub(r"^ \* ?", "", comment[1], flags=re.M)
        head, *blocks = re.split(r"\n(?:\n|\Z)", "\n" + lines)
        self.parameters = PARAMETER.findall(head)
        self.blocks = [block.splitlines() for block in blocks if block]
        if [name for name, _ in self.parameters] != self.names or PARAMETER.sub("", head).strip():
            raise Bad("first come its parameters: " + ", ".join(self.names))

    def mark(self, found):
        kind, text = found.lastgroup, found[found.lastgroup]
        if kind == "parameter" and text not in self.names:
            raise Bad(f"there is no parameter {text}")
        if kind == "function" and text not in self.functions:
            raise Bad(f"there is no function {text}()")
        if kind == "function" and text != self.name:
            self.seen.add(text)
            return rf"\fB{text}\fR(3)"
        font = "I" if kind in ("parameter", "type") else "B"
        return rf"\f{font}{verbatim(text)}\fR" + ("()" if kind == "function" else "")

    def prose(self, text):
        """The lines of a paragraph, with fonts for the marks of kernel-doc."""
        text, parts, end = " ".join(text.split()), [], 0
        for found in list(MARK.finditer(text)) + [None]:
            plain = text[end:found.start() if found else len(text)]
            if STRAY.search(plain):
                raise Bad(f"cannot be shown: {plain.strip()}")
            parts.append(re.sub(r"-(?=\d)", r"\\-", plain))
            if found:
                parts.append(self.mark(found))
                end = found.end()
        lines = textwrap.wrap("".join(parts), 90, break_long_words=False, break_on_hyphens=False)
        return [re.sub(r"^(?=[.'])", r"\\&", line) for line in lines]

    def show(self, block):
        """The lines of a block: code, items, or a paragraph."""
        if all(line.startswith("\t") for line in block):
            code = [verbatim(line[1:].expandtabs(8)) for line in block]
            return [".PP", ".RS 4", ".nf", *code, ".fi", ".RE"]
        if block[0].startswith(" - "):
            items = re.split(r"(?:\n|\A) - ", "\n".join(block))[1:]
            if all(re.fullmatch(r"\S.*(?:\n {3}\S.*)*", item) for item in items):
                return [line for item in items for line in [r".IP \(bu 2", *self.prose(item)]]
        elif not any(line[0].isspace() for line in block):
            return [".PP", *self.prose(" ".join(block))]
        raise Bad(f"neither code nor items nor text: {block[0].strip()}")

    def synopsis(self):
        """The prototype, in lines that fit."""
        lines = [f"{self.begin}{self.name}("]
        for name, argument in zip(self.names, self.arguments):
            if len(lines[-1]) + len(argument) > SYNOPSIS_WIDTH:
                lines.append("    ")
            lines[-1] += argument + (")" if name == self.names[-1] else ", ")
        lines[-1] += ";" if self.names else "void);"
        names = re.compile(rf"\b({'|'.join(self.names) or '(?!)'})(?=[,)])")
        return "\n".join(r"\fB" + names.sub(r"\\fI\1\\fB", verbatim(line.rstrip())) + r"\fR"
                         for line in lines)

    def text(self, date):
        blocks, returned = self.blocks, None
        if self.begin != "void ":
            *blocks, returned = blocks or [[""]]
            if not returned[0].startswith("Return: "):
                raise Bad('last comes what it returns: "Return: ..."')
            returned = "\n".join(returned)[len("Return: "):]
        *blocks, threads = blocks or [[""]]
        threads = " ".join(threads)
        if not re.match(r"Threads: .*\. Fork: .*\.$", threads):
            raise Bad('before that comes "Threads: ... Fork: ..."')
        out = [line for name, text in self.parameters
               for line in [".TP", rf"\fI{name}\fR", *self.prose(text)]]
        out += [line for block in blocks for line in self.show(block)]
        if returned:
            out += [".SH RETURN VALUE", *self.prose(returned[0].upper() + returned[1:])]
        out += [".SH ATTRIBUTES", *self.prose(threads)]
        out += [".SH SEE ALSO"] + [f".BR {name} (3)," for name in sorted(self.seen)]
        begin = BEGIN.format(name=self.name, date=date, summary=verbatim(self.summary),
                             synopsis=self.synopsis())
        # The first paragraph of a section begins without being told to.
        return "\n".join([begin] + out[out[0] == ".PP":] +
                         [".BR librdmachan (3),", ".BR rdmachan (4)", ""])


def pages(header, date):
    """For each function its name and the text of its page."""
    comments = {name: (summary, rest) for name, summary, rest in DOCUMENTED.findall(header)}
    prototypes = PROTOTYPE.findall(COMMENT.sub("", header))
    functions = {prototype[1] for prototype in prototypes}
    for name in comments.keys() - functions:
        raise Bad(f"{name}: there is no such function")
    for prototype in prototypes:
        name = prototype[1]
        try:
            if name not in comments:
                raise Bad("has no comment")
            yield name, Page(prototype, comments[name], functions).text(date)
        except Bad as bad:
            raise Bad(f"{name}: {bad}") from None


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: pages.py HEADER OVERVIEW DIRECTORY")
    header, overview, directory = sys.argv[1:]
    try:
        with open(overview, encoding="ascii") as file:
            date = re.search(r"^\.Dd (.+)$", file.read(), re.M)
        with open(header, encoding="ascii") as file:
            made = list(pages(file.read(), date[1] if date else ""))
        os.makedirs(directory, exist_ok=True)
        for name, text in made:
            with open(os.path.join(directory, name + ".3"), "w", encoding="ascii") as file:
                file.write(text)
    except (Bad, OSError, UnicodeError) as error:
        sys.exit(f"pages.py: {header}: {error}")


main()
