"""The page as a file: small, whole, and safe against what people call things."""

import base64
import json
import re

import numpy as np
import pytest

import bezierflow as bf
from bezierflow.explorer.explore import page_data
from bezierflow.explorer.page import SCRIPTS, as_script_data, asset
from solved import distances_to_points, solved


def test_a_page_is_small_enough_to_mail(pages):
    """D = 5, M = 3, L = 20 under 200 kB."""
    assert pages[3].stat().st_size < 200_000
    assert max(page.stat().st_size for page in pages.values()) < 1_000_000


def test_a_page_is_whole(pages):
    for page in pages.values():
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", text)
        assert "http" not in re.sub(r"http-equiv", "", text)
        assert text.count("<script") == 2
        assert "default-src 'none'" in text.replace("&#x27;", "'")


def test_names_cannot_leave_the_data(pages):
    text = pages["evil"].read_text(encoding="utf-8")
    assert "<img" not in text
    assert text.count("</script>") == 2
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL).group(1))
    assert data["names"]["objectives"][0] == "<img src=x onerror=alert(1)>"


def test_script_data_is_json_without_markup():
    text = as_script_data({"name": "</script><!--&\u2028"})
    assert not set(text) & set("<>&\u2028")
    assert json.loads(text) == {"name": "</script><!--&\u2028"}


def test_errors_are_measured_where_objectives_are_at_hand():
    problem = bf.problems.ScaledMED()
    solution = solved(problem, 3)
    local = page_data(solution, "scaled-MED")["local_error"]
    assert local is not None
    t = np.array(local["t"])
    found = np.frombuffer(base64.b64decode(local["distance"]), "<f8")
    true = problem.distance(np.asarray(solution.pareto_set(t)))
    inner = (t > 0.05).all(axis=1)
    np.testing.assert_allclose(found[inner], true[inner], rtol=0.2, atol=1e-4)
    assert page_data(distances_to_points(3, 3), "")["local_error"] is None


def test_every_script_is_put_in():
    for name in SCRIPTS:
        assert len(asset(name)) > 100


def test_misuse_is_named_at_the_door(unchecked, tmp_path):
    solution = distances_to_points(2, 2)
    with pytest.raises(ValueError, match=r"path must end in .html, got '.*page.txt'"):
        bf.explore(solution, tmp_path / "page.txt")
    with pytest.raises(TypeError, match="a surface alone has no objectives to show"):
        bf.explore(solution.pareto_set, tmp_path / "page.html")
