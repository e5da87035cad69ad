"""How Sphinx builds the documentation; `make docs` runs it."""

import re
from pathlib import Path

project = "Kron"
author = "The Kron maintainers"
release = re.findall(r'__version__ = "(.+)"', (Path(__file__).parents[1] / "src/kron/_version.py").read_text("utf-8"))[
    0
]

extensions = ["myst_parser", "sphinx_copybutton", "sphinxcontrib.mermaid"]
source_suffix = {".md": "markdown"}
nitpicky = True

myst_heading_anchors = 4  # the anchors that GitHub makes, so that a link works in both places
myst_fence_as_directive = {"mermaid"}

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["kron.css"]
html_title = f"Kron {release}"
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
