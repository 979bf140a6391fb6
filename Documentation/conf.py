# SPDX-License-Identifier: GPL-2.0
"""conf.py - how Sphinx makes HTML of these pages: "make html" """
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

project = "rdmachan"
author = "rdmachan"
extensions = ["kernel_doc"]
highlight_language = "none"
html_theme = "alabaster"
html_theme_options = {"page_width": "70em", "sidebar_width": "16em"}
html_show_sphinx = False
html_show_copyright = False
# The pages are made of the tree alone: two runs give the same pages.
html_last_updated_fmt = None
