#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# html.sh - make HTML of the documents, into build/html; a warning is an error
#
# Needs python3-sphinx. The comments of the headers come in by Documentation/kernel_doc.py.
set -euo pipefail
cd "$(dirname "$0")/../.."

# All pages are read anew (-E): a remembered page has lost its warnings.
PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 -m sphinx -q -E -W --keep-going -b html Documentation \
	"${RDMACHAN_BUILD:-build}/html"
