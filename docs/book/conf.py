"""Sphinx's settings for the site that ./book builds. tools/book writes the pages that it reads."""

import re

project = "Palmette"
author = "The Palmette developers"
copyright = "the Palmette developers, BSD-3-Clause licence"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
root_doc = "index"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
default_role = "py:obj"
smartquotes = False
highlight_language = "text"
toc_object_entries = False  # thousands of entries, copied for every page
maximum_signature_line_length = 80

myst_enable_extensions = ["linkify", "attrs_inline"]
myst_heading_anchors = 5
suppress_warnings = ["myst.header"]

autodoc_mock_imports = ["mpi4py", "palmette._mpi"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = "Palmette"
html_static_path = ["_static"]
html_css_files = ["palmette.css"]
html_logo = "_static/mark.svg"
html_favicon = "_static/mark.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#2d6a3c",
        "color-brand-content": "#1f5f8b",
        "color-brand-visited": "#5b4a8a",
    },
    "dark_css_variables": {
        "color-brand-primary": "#8fc98a",
        "color-brand-content": "#79b8e6",
        "color-brand-visited": "#b7a6e6",
    },
    "top_of_page_buttons": [],
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"


def mend_docstring(*told):
    """Docstrings write |A| for moduli, which reStructuredText would take for substitutions; and types of
    arguments are prose, whose words are not names to link to."""
    lines = told[-1]
    types = {}
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            pieces = re.split(r"(``.*?``)", line)
            pieces[::2] = [re.sub(r"(?<!\\)\|", r"\\|", piece) for piece in pieces[::2]]
            lines[number] = "".join(pieces)
        if found := re.match(r":type (\S+): (.*)", lines[number]):
            types[found[1]] = found[2]
    lines[:] = [line for line in lines if not line.startswith(":type ")]
    for number, line in enumerate(lines):
        if (found := re.match(r":param (\S+): ?(.*)", line)) and found[1] in types:
            lines[number] = f":param {found[1]}: ({types[found[1]]}) {found[2]}"


def setup(app):
    app.connect("autodoc-process-docstring", mend_docstring, priority=900)
