"""The documentation site: pages for Sphinx, made of docs/, the headers, the Python module and the command.

`stage` writes them into a folder, `links` checks the links of the built site, `browser_check` looks at it in
Chromium. ./book calls all of them.
"""
