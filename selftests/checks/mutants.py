#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check the instrument that changes the module: the points it finds, and that it fails loudly.

Prints TAP, and exits 1 if something is wrong. Neither a kernel nor a guest is needed.
"""

import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "mutants"))
sys.dont_write_bytecode = True
import mutants  # noqa: E402 pylint: disable=wrong-import-position
from points import points  # noqa: E402 pylint: disable=wrong-import-position

# Changes without a point: each line a line of a file.
NOTHING = r"""
/* if (a < b) return 0; */
// x = 1 + 2;
#define TWICE(a) ((a) + (a))
#define LONG(a) do { \
	if ((a) < 1) /* over
	lines */ return 0; \
} while (0)
static const int table[3] = { 1, 2, 3 };
enum number { ONE = 1, TWO = 1 + 1 };
struct pair { u32 a : 4; u32 b[2]; };
int declared(int a, const char *b);
static void nothing(struct pair *p)
{
	const char *text = "a < b && c == 1; x++;", one = '<', quote = '\'';
	u32 array[4];
	void *q = (void *)&p->a, *r = &p->b;
	int m = -VALUE, n = (int)-VALUE;

	/* return 1; */
	pr_debug("%d\n", p->a + 1);
	WARN_ON_ONCE(p->a < 1 || !p->b);
	lockdep_assert_held(&p->lock);
	spin_lock_bh(&p->lock);
	mutex_unlock(&p->mutex);
	INIT_LIST_HEAD(&p->list);
	if (rch_inject_on())
		rch_link_inject(p, 1);
	smp_mb();
	switch (p->kind) {
	case 1:
	case 'a':
		break;
	default:
		break;
	}
again:
	goto again;
}
"""

# One body, and each change of it as KIND, the old text, and the new.
SAMPLE = """
int sample(struct s *p, u32 n)
{
	u32 left = n & 7;
	int ret;

	if (!p || n <= 0x10)
		return -EINVAL;
	p->row[n].count += n;
	*p->out = 2UL;
	list_for_each_entry(p, list, entry)
		rch_put(p);
	for (i = 0; i < n; i++) {
		if (p->next)
			continue;
		p->seen++;
	}
	ret = min(n, left) == 3 ? first(p) : last(p);
	if (ret)
		goto err;
	return true;
err:
	release(p);
	return ret;
}
"""
CHANGES = [
    ("bits", "&", "|"), ("constant", "7", "8"), ("not", "!", ""), ("logic", "||", "&&"),
    ("relation", "<=", "<"), ("constant", "0x10", "0x11"), ("return", "-EINVAL", "0"),
    ("assign", "p->row[n].count += n", "(void)0"), ("sum", "+=", "-="),
    ("assign", "*p->out = 2UL", "(void)0"), ("constant", "2UL", "3UL"),
    ("call", "rch_put(p)", "(void)0"), ("constant", "0", "1"), ("relation", "<", "<="),
    ("negate", "p->next", "!(p->next)"), ("loop", "continue", "break"),
    ("assign", "p->seen++", "(void)0"),
    ("assign", "ret = min(n, left) == 3 ? first(p) : last(p)", "(void)0"),
    ("extreme", "min", "max"), ("relation", "==", "!="), ("constant", "3", "4"),
    ("negate", "ret", "!(ret)"), ("return", "true", "false"), ("call", "release(p)", "(void)0"),
    ("return", "ret", "0"),
]


def what(found):
    """The points in words, in the order of the file."""
    return [(point.kind, point.old, point.new) for point in found]


def differs(have, want):
    """Yield what one list has more than the other."""
    yield from (f"too much: {entry}" for entry in have if entry not in want)
    yield from (f"not found: {entry}" for entry in want if entry not in have)


def check_nothing():
    return differs(what(points("nothing.c", NOTHING)), [])


def check_sample():
    # The sign of "p->next" and its like is no point; "-EINVAL" is one, as a whole.
    have, want = what(points("sample.c", SAMPLE)), CHANGES
    yield from differs(have, want)
    if len(have) != len(want):
        yield f"{len(have)} points, not {len(want)}"


def check_applied():
    found = points("sample.c", SAMPLE)
    if len({point.id for point in found}) != len(found):
        yield "two points have one id"
    if [point.line for point in found] != sorted(point.line for point in found):
        yield "lines are not in their order"
    for point in found:
        text = point.applied(SAMPLE)
        if text == SAMPLE or text.count("\n") != SAMPLE.count("\n"):
            yield f"{point.id}: the text is the same, or has other lines"
        changed = [number for number, (old, new) in enumerate(
            zip(SAMPLE.split("\n"), text.split("\n")), 1) if old != new]
        if changed != [point.line]:
            yield f"{point.id} changes the lines {changed}"


def check_module():
    """Of the module's own files all have points, or no body; and a seed gives one order."""
    kmod = os.path.join(mutants.TOP, "kmod")
    lines = mutants.all_points(kmod)
    files = {name for name, _ in lines}
    bodiless = ("proto/rules.c", "front/abi.c")
    for name in mutants.sources(kmod):
        if name.endswith(".c") and name not in files and name not in bodiless:
            yield f"{name} has no point"
    if files & set(mutants.NOT_THESE) or any(name.startswith("kunit") for name in files):
        yield "files that are for tests have points"
    orders = [[point.id for _, point in zip(range(50), mutants.choose(lines, seed))]
              for seed in (1, 1, 2)]
    if orders[0] != orders[1] or orders[0] == orders[2]:
        yield "a seed does not choose"
    guests = mutants.groups()
    for name in mutants.sources(kmod):
        run = [guest.name.removesuffix("-quick") for guest in mutants.order(name, guests)]
        if not set(mutants.GROUPS) <= set(run) or len(run) != len(set(run)):
            yield f"{name}: not all groups run, or one runs twice"
    for row in mutants.ALSO:
        if not any(guests[row] in mutants.order(name, guests) for name in mutants.sources(kmod)):
            yield f"{row[2]} never run"


def refuses(word, function, *args):
    """Yield something unless it fails as an instrument, and says @word."""
    try:
        yield f"it returns {function(*args)!r}"
    except mutants.Failed as failed:
        if word not in str(failed):
            yield f"it says: {failed}"


def check_no_source():
    with tempfile.TemporaryDirectory() as empty:
        os.mkdir(os.path.join(empty, "pure"))
        yield from refuses("no point", mutants.all_points, empty)
    yield from refuses("no point a.c:1", list, mutants.named({}, ["a.c:1:call-1"]))


def module_with(script):
    """A module of one object, whose make is a script."""
    module = mutants.Module()
    for part in ("", "pure", "kunit"):
        os.makedirs(os.path.join(module.clean, "kmod", part), exist_ok=True)
    for name, text in (("sample.c", SAMPLE), ("sample.o", "1"), ("rdmachan.ko", "1"),
                       ("kunit/rdmachan_kunit.ko", "1")):
        with open(os.path.join(module.clean, "kmod", name), "w", encoding="utf-8") as file:
            file.write(text)
    module.make = ["sh", "-c", f"cd {module.kmod} && {script}"]
    module._code = lambda name: mutants.digest(os.path.join(module.kmod, name))
    module.restore()
    module.objects = {"sample.o": module._code("sample.o")}
    module.modules = module.made_digests()
    return module


def check_build():
    """A build that does nothing, or half of it, or fails by itself, is no mutant."""
    point = points("sample.c", SAMPLE)[0]
    for script, word in (("true", "nothing was built again"),
                         ("echo 2 >sample.o", "and no module does"),
                         ("echo disk full; false", "not by the change")):
        for wrong in refuses(word, module_with(script).build, point):
            yield f"{script}: {wrong}"
    for script, want in (("echo 'sample.c:4: error: no'; false", None), ("touch sample.o", []),
                         ("touch sample.o && echo 2 >rdmachan.ko", []),
                         ("echo 2 >sample.o; echo 2 >rdmachan.ko", ["rdmachan.ko"])):
        have = module_with(script).build(point)
        if have != want:
            yield f"{script}: {have}, not {want}"
    module = module_with("cp sample.c seen && echo 2 >sample.o && echo 2 >rdmachan.ko")
    module.build(point)
    if mutants.read(os.path.join(module.kmod, "seen")) != point.applied(SAMPLE):
        yield "what is built has not the change"
    module.restore()
    if mutants.read(os.path.join(module.kmod, "sample.c")) != SAMPLE:
        yield "the change stays"


class Played(mutants.Guest):
    """A guest that a script plays."""

    def __init__(self, script):
        super().__init__("", ["one", "two"], {"one": 0.1, "two": 0.1})
        self.script = script

    def command(self):
        return ["sh", "-c", f"echo Linux version >{self.out}/console.log; {self.script}"]

    def limit(self):
        """One that hangs has no more to say; the others may take their time on a busy machine."""
        return 1 if "hangs" in self.script else 600


GOOD = "echo ok 1 a; echo '# one: 0 s'; echo ok 1 b; echo '# two: 0 s'; echo 2 passed, 0 failed"


def check_guest():
    for script, want in (
            (GOOD, None),
            ("echo not ok 1 a; sleep 600", "one: a"),
            ("echo '# one: 0 s'; echo 'not ok 2 b.c # 3 s'; sleep 600", "two: b.c"),
            ("echo '# one: 0 s'; sleep 600 # hangs", "two: not at its end after 1 s"),
            ("echo '# one: 0 s'; exit 125", "two: the guest ended with status 125"),
            ('echo "[    1.5000] BUG: it" >>$OUT/console.log; ' + GOOD, "one: the kernel: BUG: it"),
            ('echo "Oops: it" >>$OUT/console.log; exit 125', "one: the kernel: Oops: it")):
        have = Played(script.replace("$OUT", os.path.join(mutants.OUT, "run"))).run()
        if have != want:
            yield f"{script}: {have}, not {want}"
    for script, word in (("true", "one has not run"),
                         ("echo ok 1 a; echo '# one: 0 s'", "two has not run"),
                         (GOOD.replace("2 passed", "0 passed"), "no test that passed"),
                         ("echo '# two: 0 s'; sleep 600", "two has run, and not one"),
                         ("exit 126", "could not begin")):
        for wrong in refuses(word, Played(script).run):
            yield f"{script}: {wrong}"


CHECKS = (
    ("comments, strings, preprocessor lines and declarations have no point", check_nothing),
    ("a body has all of its points", check_sample),
    ("a change is in its line alone", check_applied),
    ("the module has points, chosen by a seed", check_module),
    ("no source and no such point", check_no_source),
    ("builds that prove nothing", check_build),
    ("guests that pass, fail, hang, complain, or prove nothing", check_guest),
)


def main():
    failed = False
    print(f"1..{len(CHECKS)}")
    with tempfile.TemporaryDirectory() as mutants.OUT:
        for number, (title, check) in enumerate(CHECKS, 1):
            wrong = list(check())
            failed |= bool(wrong)
            for line in wrong:
                print("#", line)
            print(f"{'not ok' if wrong else 'ok'} {number} - {title}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
