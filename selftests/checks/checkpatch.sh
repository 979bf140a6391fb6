#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# checkpatch.sh - check the style of all C files with the kernel's checkpatch.pl
#
# usage: checkpatch.sh [FILE...]
#
# Files are named from the top of the tree; without any, all that git knows and has
# not been told to ignore. What checkpatch-exceptions.txt lists, with its reason, is
# not reported. Findings in a file are kept until the file, checkpatch.pl or its options change: it
# takes two minutes for all. CHECKPATCH names another checkpatch.pl than the lab's. Exit status: 0
# nothing was found, 1 something was, 2 cannot run.

set -euo pipefail
cd "$(dirname "$0")/../.."
. selftests/lab/lib.sh

EXCEPTIONS=selftests/checks/checkpatch-exceptions.txt
OPTIONS=(--no-tree --strict --max-line-length=100 --terse --show-types)

find_checkpatch() {
	local dir

	if [ -z "${CHECKPATCH:-}" ]; then
		dir=$(selftests/lab/kernel.sh checkpatch 2>/dev/null) ||
			die "the lab cannot get checkpatch.pl"
		CHECKPATCH=$dir/checkpatch.pl
	fi
	[ -f "$CHECKPATCH" ] || die "no file $CHECKPATCH"
}

# The types that are excepted for all files, with commas.
ignored_types() {
	awk '!/^#/ && $2 == "*" { printf "%s%s", comma, $1; comma = "," }' "$EXCEPTIONS"
}

# One line for each finding: FILE:LINE: LEVEL:TYPE: text. It keeps notes in the
# current directory, which is therefore one with links to the tree's folders.
run_checkpatch() {
	ln -s "$PWD"/*/ "$SCRATCH"
	cd "$SCRATCH"
	# It fails when it finds something; what it prints counts.
	perl "$CHECKPATCH" "${OPTIONS[@]}" --root="$SCRATCH" --ignore "$IGNORED" -f "$@" \
		2>"$SCRATCH/errors" | grep -v '^total: \|: total: ' || :
}

# Of each file, by its name and contents: where its findings are kept.
places() {
	local asked

	asked=$({ echo "${OPTIONS[@]}" "$IGNORED"; cat "${CHECKPATCH%/*}"/*.*; } | sha256sum)
	sha256sum "$@" | while read -r sum file; do
		echo "$KEPT/${asked:0:16}-${file//\//%}-${sum:0:32}"
	done
}

# Ask about those of which nothing is kept. What cannot be asked is not kept.
ask() {
	local i part files=() places=()

	for ((i = 1; i <= $#; i++)); do
		[ -f "${PLACES[i - 1]}" ] && continue
		files+=("${!i}")
		places+=("${PLACES[i - 1]}")
	done
	[ ${#files[@]} -gt 0 ] || return 0
	# One more, in which something is wrong, shows that an error is found.
	mkdir "$SCRATCH/wrong"
	printf '// SPDX-License-Identifier: GPL-2.0\nint  a ;\n' >"$SCRATCH/wrong/wrong.c"
	(run_checkpatch "${files[@]}" wrong/wrong.c) >"$SCRATCH/found"
	grep -q '^wrong/wrong.c:2:' "$SCRATCH/found" || die "$CHECKPATCH does not find what is wrong"
	[ ! -s "$SCRATCH/errors" ] || { cat "$SCRATCH/errors" >&2; exit 2; }
	for i in "${!files[@]}"; do
		part=$(mktemp "$KEPT/part.XXXXXX")
		awk -F: -v file="${files[i]}" '$1 == file' "$SCRATCH/found" >"$part"
		mv "$part" "${places[i]}"
	done
}

# Take away what is excepted: a type, and a pattern of files.
report() {
	# With an empty file awk would take the findings for exceptions.
	[ -s "$EXCEPTIONS" ] || die "there is nothing in $EXCEPTIONS"
	awk '
		FNR == NR {
			if ($0 !~ /^#/ && NF >= 3) {
				pattern = $2
				gsub(/[.]/, "[.]", pattern)
				gsub(/[*]/, ".*", pattern)
				type[++n] = $1
				files[n] = "^" pattern "$"
			}
			next
		}
		{
			split($0, part, ":")
			for (i = 1; i <= n; i++)
				if (part[4] == type[i] && part[1] ~ files[i]) {
					excepted++
					next
				}
			print
			found++
		}
		END {
			printf "checkpatch.sh: %d files, %d findings, %d excepted\n",
				count, found, excepted
			exit found > 0
		}' count=$# "$EXCEPTIONS" -
}

main() {
	if [ $# -eq 0 ]; then
		mapfile -t FILES < <(git ls-files -co --exclude-standard 'kmod/*.[ch]' 'uapi/*.h' \
			'userspace-tool/*.[ch]' 'selftests/*.[ch]' |
			while read -r file; do [ ! -f "$file" ] || echo "$file"; done)
		set -- "${FILES[@]}"
	fi
	[ $# -gt 0 ] || die "no files"
	for file; do
		[ -r "$file" ] || die "no file $file"
	done
	find_checkpatch
	IGNORED=$(ignored_types)
	SCRATCH=$(mktemp -d)
	# Where it looks for names in mixed case that are known.
	mkdir "$SCRATCH/include"
	trap 'rm -rf "$SCRATCH"' EXIT
	KEPT=$CACHE/checkpatch-found
	mkdir -p "$KEPT"
	find "$KEPT" -type f -mtime +30 -delete
	mapfile -t PLACES < <(places "$@")
	ask "$@"
	# The table comes in as a file, the findings by the pipe.
	cat "${PLACES[@]}" | report "$@"
}

main "$@"
