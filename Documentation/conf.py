# SPDX-License-Identifier: GPL-2.0
"""Sphinx configuration. scripts/docs runs it; nothing is fetched from a network."""

import os
import re

from docutils import nodes
from sphinx import addnodes

project = "hslab"
copyright = "hslab's authors, GPL-2.0"
release = os.environ.get("HSLAB_VERSION", "")
version = release

html_theme = "alabaster"
html_theme_options = {
    "description": "Hardened slab caches for a stock kernel",
    "page_width": "1100px",
}
html_copy_source = False
html_show_sphinx = False
highlight_language = "none"

# A reference that leads nowhere is an error, but for the kernel's own types.
nitpicky = True
nitpick_ignore_regex = [(r"c:.*", r".*")]

DOCUMENT = re.compile(r"Documentation/([\w-]+)\.rst")


def link_documents(app, doctree):
    """Make "Documentation/NAME.rst" in running text a link, as the kernel does."""
    for text in list(doctree.findall(nodes.Text)):
        if isinstance(text.parent, (nodes.FixedTextElement, nodes.literal, nodes.reference)):
            continue
        new, end = [], 0
        for match in DOCUMENT.finditer(text):
            link = addnodes.pending_xref(
                "", nodes.inline("", match[0]), refdomain="std", reftype="doc",
                reftarget="/" + match[1], refexplicit=False, refwarn=True,
                refdoc=app.env.docname)
            new += [nodes.Text(text[end:match.start()]), link]
            end = match.end()
        if new:
            text.parent.replace(text, new + [nodes.Text(text[end:])])


def setup(app):
    app.connect("doctree-read", link_documents)
