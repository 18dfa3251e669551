"""The page's file: markup, style, script and data in one, with nothing left to fetch."""

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from importlib.resources import files
from string import Template

import numpy as np
from numpy.typing import ArrayLike

SCRIPTS = (
    "simplex.js",
    "bezier.js",
    "tradeoffs.js",
    "drawing.js",
    "model.js",
    "bounds.js",
    "mesh.js",
    "surface_model.js",
    "patches.js",
    "piece_mesh.js",
    "atlas_model.js",
    "pad.js",
    "front_views.js",
    "pairs_view.js",
    "parallel.js",
    "panels.js",
    "bookmarks.js",
    "app.js",
)
"""The script's files in the order they are put together: each uses only those before it, and all
share one private scope."""


def render(
    data: Mapping[str, object], title: str, subtitle: str, footer: str, caution: str = ""
) -> str:
    """The whole page as text, with a caution above everything if there is one. Texts are text,
    whatever they contain."""
    # In a function of its own, so that nothing leaks into the page.
    scripts = "\n".join(asset(name) for name in SCRIPTS)
    style, script = asset("style.css"), f'(() => {{\n"use strict";\n{scripts}\n}})();'
    # Digests of the page's own style and script: nothing that a text smuggles in is run.
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    above = f'<p id="caution" class="caution" role="alert">{html.escape(caution)}</p>'
    above = above if caution else ""
    return Template(asset("page.html")).substitute(
        policy=html.escape(policy),
        title=html.escape(title),
        subtitle=html.escape(subtitle),
        footer=html.escape(footer),
        caution=above,
        style=style,
        script=script,
        data=as_script_data(data),
    )


def as_script_data(data: Mapping[str, object]) -> str:
    """JSON that can stand inside a script element: what would end it or open a comment is written
    as an escape."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def encode(numbers: ArrayLike) -> str:
    """Little-endian doubles in base64: exact, and half the size of decimal text."""
    return base64.b64encode(np.ascontiguousarray(numbers, dtype="<f8").tobytes()).decode()


def finite(number: float | None) -> float | None:
    """The number, or None where JSON has no word for it."""
    return float(number) if number is not None and np.isfinite(number) else None


def asset(name: str) -> str:
    """One of the files that lie beside this one."""
    return (files(__name__.rpartition(".")[0]) / "assets" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """The source that a content-security policy allows: exactly this text and no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
