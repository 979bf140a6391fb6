# SPDX-License-Identifier: GPL-2.0
"""kernel_doc.py - an extension of Sphinx: the directive kernel-doc, for the headers of this tree

    .. kernel-doc:: uapi/rdmachan.h
       :doc: rules of the interface

shows the DOC comment of that title; with :internal: instead, all other comments of the header, in
its order. Paths count from the top of the tree. A comment that names what does not follow it is a
warning, and so an error with -W.
"""
import os
import re
import textwrap

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from docutils.statemachine import StringList

COMMENT = re.compile(r"/\*\*(?P<text>.*?)\*/\n(?P<code>(?:(?!/\*\*).)*)", re.S)
HEAD = re.compile(r"(?:(?P<kind>struct|enum|union) )?(?P<name>\w+)(?P<call>\(\))? - (?P<brief>.*)",
                  re.S)
MEMBER = re.compile(r"^@(\w+): (.*(?:\n\t.*)*)", re.M)
MARK = re.compile(r"""(?P<literal>``[^`]+``)
    | (?<![\w%])%(?P<constant>[A-Z]\w+)
    | (?<!\w)(?P<star>\*?)@(?P<member>\w+)
    | &(?P<type>(?:(?:struct|enum|union)\ )?\w+(?:\.\w+)?)
    | (?<![\w`])(?P<function>\w+\(\))""", re.X)


def inline(text):
    """Marks of kernel-doc become those of rst."""
    def mark(found):
        if found["literal"]:
            return found["literal"]
        return f"``{found['star'] or ''}{found[found.lastgroup]}``"
    return MARK.sub(mark, text)


def paragraphs(text):
    """The rst of a comment's body: paragraphs, items, and code that is indented by a tab."""
    for block in re.split(r"\n[ \t]*\n", text.strip("\n")):
        lines = block.split("\n")
        if all(line.startswith("\t") for line in lines):
            yield from ["::", ""] + ["    " + line[1:].expandtabs(8) for line in lines]
        elif any(line.startswith("\t") for line in lines):
            first = next(i for i, line in enumerate(lines) if line.startswith("\t"))
            yield from paragraphs("\n".join(lines[:first]) + "\n\n" + "\n".join(lines[first:]))
        else:
            yield from inline(textwrap.dedent("\n".join(line.expandtabs(8) for line in lines))
                              ).split("\n")
        yield ""


def declaration(found, code):
    """The C that a comment describes, and the directive that names it."""
    name = found["name"]
    if found["kind"]:
        text = re.search(rf"^(?:__extension__ )?{found['kind']} {name} \{{.*?^\}}.*?;", code,
                         re.S | re.M)
        return text and (f".. c:{found['kind']}:: {name}", text[0])
    if found["call"]:
        text = re.search(rf"^\w[^;{{}}#]*[ *]{name}\([^;{{}}]*\);", code, re.M)
        return text and (".. c:function:: " + " ".join(text[0].rstrip(";").split()), None)
    text = re.search(rf"^#define {name}\b(?:\\\n|.)*", code, re.M)
    return text and (f".. c:macro:: {name}", text[0])


def entry(found, body, code):
    """The rst lines of one comment, or None when what it describes does not follow."""
    said = declaration(found, code)
    if not said:
        return None
    members = MEMBER.findall(body)
    rest = MEMBER.sub("", body)
    lines = [*inline(found["brief"]).split("\n"), ""]
    if said[1]:
        lines += ["::", ""] + ["    " + line.expandtabs(8) for line in said[1].split("\n")] + [""]
    for name, text in members:
        lines += [f"``{name}``", "  " + inline(" ".join(text.split()))]
    lines += ["", *paragraphs(rest)]
    return [said[0], ""] + [("   " + line).rstrip() for line in lines] + [""]


def rst_of(text, title):
    """Lines of rst for the header @text, and what is wrong with it."""
    lines, wrong = [], []
    for comment in COMMENT.finditer(text):
        said = re.sub(r"^[ \t]*\*(?: |$)?", "", comment["text"].strip(), flags=re.M).strip()
        head, _, body = said.partition("\n")
        if head.startswith("DOC: "):
            if title == head[len("DOC: "):]:
                lines += [f".. rubric:: {title[0].upper()}{title[1:]}", "", *paragraphs(body)]
            continue
        if title is not None:
            continue
        # A summary may go on in the next line.
        while body and not re.match(r"\n|@|[ \t]*$", body):
            more, _, body = body.partition("\n")
            head += " " + more.strip()
        found = HEAD.fullmatch(head)
        shown = found and entry(found, body, comment["code"])
        lines += shown or []
        if not shown:
            wrong.append(head)
    if title is not None and not lines:
        wrong.append("no DOC: " + title)
    return lines, wrong


class KernelDoc(Directive):
    """The comments of a header."""

    required_arguments = 1
    option_spec = {"doc": directives.unchanged_required, "internal": directives.flag}

    def run(self):
        env = self.state.document.settings.env
        path = os.path.join(env.srcdir, "..", self.arguments[0])
        env.note_dependency(os.path.abspath(path))
        with open(path, encoding="utf-8") as file:
            lines, wrong = rst_of(file.read(), self.options.get("doc"))
        node = nodes.section()
        node.document = self.state.document
        self.state.nested_parse(StringList(lines, source=path), 0, node)
        return [self.state.document.reporter.warning(f"{self.arguments[0]}: {text}",
                                                     line=self.lineno)
                for text in wrong] + node.children


def setup(app):
    app.add_directive("kernel-doc", KernelDoc)
    return {"parallel_read_safe": True}
