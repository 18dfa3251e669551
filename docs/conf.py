"""The documentation site: `make docs` builds it, runs every example on its pages, and asks nothing
of the network."""

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "site"))

project = "bezierflow"
author = "The bezierflow developers"
copyright = author
release = metadata.version("bezierflow")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx-mathjax-offline",
    "sphinx_copybutton",
    "run_examples",
    "room_pages",
]
exclude_patterns = ["_build", "site", "figures"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4

html_theme = "furo"
# a block without a language is what a program prints; the usual dark style underlines imports like links
highlight_language = "text"
pygments_dark_style = "github-dark"
html_title = "bezierflow"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_js_files = ["tables.js"]
html_extra_path = ["../llms.txt"]
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}

autodoc_typehints = "description"
# fields of a class are listed once, with their text
autodoc_typehints_description_target = "documented_params"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True

# Shape strings of jaxtyping are not forward references, and pages of the repository outside docs/
# are not pages of the site.
suppress_warnings = ["sphinx_autodoc_typehints.forward_reference", "ref.python"]
