# SPDX-License-Identifier: GPL-2.0
"""points.py - where a C source can be changed so that it means something else

points(name, text) finds the points of a file: an operator, a constant, a call or a return in the
body of a function, and the text that takes its place. Comments, strings, preprocessor lines,
declarations of data, and what only watches (pr_debug(), WARN_ON(), lockdep_assert_held() and
their like, with all that is in their parentheses) have none.
"""

import re

TOKEN = re.compile(
    r"(?P<skip>\s+|//[^\n]*|/\*.*?\*/|\#(?:\\\n|/\*.*?\*/|[^\n])*)"
    r"|(?P<text>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
    r"|(?P<number>(?:0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)", re.S)

# Operators between two values, and what each becomes.
SWAPS = {
    "relation": {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    "logic": {"&&": "||", "||": "&&"},
    "sum": {"+": "-", "-": "+", "+=": "-=", "-=": "+="},
    "bits": {"&": "|", "|": "&", "&=": "|=", "|=": "&=", "<<": ">>", ">>": "<<"},
}
NAMES = {
    "extreme": {"min": "max", "max": "min", "min_t": "max_t", "max_t": "min_t"},
}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
KEYWORDS = {"if", "else", "for", "while", "do", "switch", "case", "default", "return", "goto",
            "break", "continue", "sizeof", "struct", "union", "enum", "const", "static"}
TYPES = {"void", "bool", "char", "short", "int", "long", "unsigned", "signed", "size_t", "ssize_t",
         "loff_t", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "__force"}

# What only watches, or is there for tests.
WATCHES = re.compile(r"pr_\w+|dev_(dbg|info|warn|err)\w*|WARN\w*|BUG\w*|BUILD_BUG\w*|static_assert|"
                     r"lockdep_\w+|might_\w+|trace_\w+|\w*inject\w*|RCH_FAULT\w*")
# Calls that stay: without a lock, or what has not been set up, anything may happen or nothing;
# and barriers, which one processor does not need.
STAY = re.compile(r"(.*_)?(un)?lock(_.*)?|INIT_\w+|init_\w+|\w+_init|\w+_init_\w+|smp_\w*mb\w*|"
                  r"barrier|cpu_relax|cond_resched|va_\w+")


class Point:
    """A place in a file, and the text that takes the place of what is there."""

    def __init__(self, name, text, kind, start, end, new):
        self.name, self.kind, self.start, self.end, self.new = name, kind, start, end, new
        self.line = text.count("\n", 0, start) + 1
        self.column = start - text.rfind("\n", 0, start)
        self.old = text[start:end]

    @property
    def id(self):
        """How it is called: file, line, kind and column."""
        return f"{self.name}:{self.line}:{self.kind}-{self.column}"

    def applied(self, text):
        """Return @text with the change. Lines keep their numbers."""
        new = self.new + "\n" * (self.old.count("\n") - self.new.count("\n"))
        return text[:self.start] + new + text[self.end:]

    def describe(self, text):
        """Return the line as it is and as it becomes."""
        first = text.rfind("\n", 0, self.start) + 1
        last = text.find("\n", self.end)
        last = len(text) if last < 0 else last
        old, new = text[first:last], text[first:self.start] + self.new + text[self.end:last]
        return " ".join(old.split()), " ".join(new.split())


class Token:
    """A word of the language; @pair is the index of the bracket that belongs to it."""

    def __init__(self, kind, text, start):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)
        self.pair = None


def tokens(text):
    """Return the tokens of a file, with brackets paired."""
    found, open_ones = [], []
    for match in TOKEN.finditer(text):
        if match.lastgroup == "skip":
            continue
        token = Token(match.lastgroup, match.group(), match.start())
        if token.text in ("(", "[", "{"):
            open_ones.append(len(found))
        elif token.text in (")", "]", "}"):
            if not open_ones:
                raise ValueError(f"a bracket too many at {match.start()}")
            token.pair = open_ones.pop()
            found[token.pair].pair = len(found)
        found.append(token)
    if open_ones:
        raise ValueError("brackets that stay open")
    return found


class Finder:
    """Finds the points of a file."""

    def __init__(self, name, text):
        self.name, self.text, self.points = name, text, []
        self.tokens = tokens(text)
        self.ignored = self._ignored()
        self.starts = set()

    def find(self):
        """Return the points of all bodies of functions."""
        i = 0
        while i < len(self.tokens):
            token = self.tokens[i]
            if token.text == "{" and i and self._is(i - 1, ")"):
                self._body(i, token.pair)
            i = (token.pair if token.text in ("{", "(", "[") else i) + 1
        return self.points

    def _is(self, i, *texts):
        return 0 <= i < len(self.tokens) and self.tokens[i].text in texts

    def _ignored(self):
        """Indices of the tokens of calls that only watch."""
        found = set()
        for i, token in enumerate(self.tokens):
            if token.kind == "name" and WATCHES.fullmatch(token.text) and self._is(i + 1, "("):
                found.update(range(i, self.tokens[i + 1].pair + 1))
        return found

    def _add(self, kind, first, last, new):
        """The tokens @first to @last become @new."""
        self.points.append(Point(self.name, self.text, kind, self.tokens[first].start,
                                 self.tokens[last].end, new))

    def _body(self, begin, end):
        self.starts = {begin + 1}
        depth = 0
        for i in range(begin + 1, end):
            token = self.tokens[i]
            depth += token.text in ("(", "[")
            depth -= token.text in (")", "]")
            if depth == 0 and self._ends_what_precedes(i):
                self.starts.add(i + 1)
            if i in self.ignored:
                continue
            if token.kind == "sign":
                self._sign(i)
            elif token.kind == "number":
                self._number(i)
            elif token.kind == "name":
                self._name(i, begin)
            if i in self.starts and depth == (token.text in ("(", "[")):
                self._statement(i)

    def _ends_what_precedes(self, i):
        """Whether a statement begins after token @i, which is in no parentheses."""
        token = self.tokens[i]
        if token.text in (";", "{", "}", "else", "do"):
            return True
        if token.text == ":":
            return i - 1 in self.starts or self._of_case(i)
        # "if (...)", "for (...)", "list_for_each_entry(...)": if no ";" follows.
        return (token.text == ")" and token.pair - 1 in self.starts
                and self.tokens[token.pair - 1].kind == "name" and not self._is(i + 1, ";"))

    def _of_case(self, i):
        while i not in self.starts and i > 0:
            i -= 1
        return self._is(i, "case", "default")

    def _is_value(self, i):
        """Whether token @i ends a value, so that a sign after it has two sides."""
        token = self.tokens[i]
        if token.text == ")":
            inside = self.tokens[token.pair + 1:i]
            cast = inside and (inside[-1].text == "*" or
                               all(word.text in TYPES for word in inside))
            return not cast
        return (token.kind == "number" or token.text == "]" or
                token.kind == "name" and token.text not in KEYWORDS)

    def _sign(self, i):
        token = self.tokens[i]
        for kind, swaps in SWAPS.items():
            if token.text in swaps and self._is_value(i - 1) and "GFP" not in (
                    self.tokens[i - 1].text + self.tokens[i + 1].text):
                self._add(kind, i, i, swaps[token.text])
        if token.text == "!" and not self._is(i - 1, "!") and not self._is(i + 1, "!"):
            self._add("not", i, i, "")

    def _number(self, i):
        token = self.tokens[i]
        if self._is(i - 1, "case") or self._is_size(i):
            return
        digits = token.text.rstrip("uUlL")
        value = int(digits, 16 if digits[:2] in ("0x", "0X") else 10)
        new = 0 if value == 1 else value + 1
        written = hex(new) if digits[:2] in ("0x", "0X") else str(new)
        self._add("constant", i, i, written + token.text[len(digits):])

    def _is_size(self, i):
        """Whether it is the size of an array that is declared: "int name[3]"."""
        if not self._is(i - 1, "["):
            return False
        before = self.tokens[i - 3]
        return before.text == "*" or before.kind == "name" and before.text not in KEYWORDS

    def _name(self, i, begin):
        token = self.tokens[i]
        for kind, swaps in NAMES.items():
            if token.text in swaps and self._is(i + 1, "("):
                self._add(kind, i, i, swaps[token.text])
        if token.text == "if" and self._is(i + 1, "("):
            self._negate(i + 1)
        elif token.text == "return":
            self._return(i)
        elif token.text in ("break", "continue") and self._in_loop(i, begin):
            self._add("loop", i, i, "continue" if token.text == "break" else "break")

    def _negate(self, i):
        """The condition in the parentheses of token @i, unless a point of its own is the same."""
        first, last = i + 1, self.tokens[i].pair - 1
        inside = range(first, last + 1)
        if any(k in self.ignored and "inject" in self.tokens[k].text for k in inside):
            return
        if self._is(first, "!") or any(self._is(k, "==", "!=") for k in inside):
            return
        condition = self.text[self.tokens[first].start:self.tokens[last].end]
        self._add("negate", first, last, f"!({condition})")

    def _return(self, i):
        if self._is(i + 1, "-") and self._is(i + 3, ";") and re.match("E[A-Z]",
                                                                  self.tokens[i + 2].text):
            self._add("return", i + 1, i + 2, "0")
        elif self._is(i + 2, ";"):
            new = {"true": "false", "false": "true", "ret": "0", "err": "0"}.get(
                self.tokens[i + 1].text)
            if new:
                self._add("return", i + 1, i + 1, new)

    def _in_loop(self, i, begin):
        """Whether the innermost block with a name around token @i is a loop's."""
        while True:
            i -= 1
            if i <= begin:
                return False
            token = self.tokens[i]
            if token.text in ("}", ")", "]"):
                i = token.pair
            elif token.text == "{":
                head = i - 1
                if self._is(head, ")"):
                    head = self.tokens[head].pair - 1
                if self._is(head, "switch"):
                    return False
                if self._is(head, "for", "while", "do") or "for_each" in self.tokens[head].text:
                    return True

    def _statement(self, i):
        """Statement at token @i: a call or an assignment can be left out."""
        token = self.tokens[i]
        if token.kind == "name" and self._is(i + 1, "("):
            last = self.tokens[i + 1].pair
            if self._is(last + 1, ";") and token.text not in KEYWORDS and not STAY.fullmatch(
                    token.text) and i not in self.ignored:
                self._add("call", i, last, "(void)0")
            return
        first = i
        while self._is(i, "*"):
            i += 1
        at = self._after_place(i)
        if at is None:
            return
        if self._is(at, *ASSIGNMENTS):
            last = at
            while not self._is(last + 1, ";"):
                last = self.tokens[last + 1].pair or last + 1
            if not any(k in self.ignored for k in range(first, last + 1)):
                self._add("assign", first, last, "(void)0")
        elif self._is(at, "++", "--") and self._is(at + 1, ";"):
            self._add("assign", first, at, "(void)0")

    def _after_place(self, i):
        """The token after "name->member[index].member" at @i, or None."""
        if self.tokens[i].kind != "name" or self.tokens[i].text in KEYWORDS | TYPES:
            return None
        i += 1
        while True:
            if self._is(i, "->", "."):
                i += 2
            elif self._is(i, "["):
                i = self.tokens[i].pair + 1
            else:
                return i


def points(name, text):
    """Return the points of the C source @text, in their order; each has another id."""
    found = {}
    for point in Finder(name, text).find():
        found.setdefault(point.id, point)
    return sorted(found.values(), key=lambda point: (point.start, point.kind))
