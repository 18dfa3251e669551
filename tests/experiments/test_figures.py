import pytest


def test_the_concepts_are_drawn_as_vectors(tmp_path):
    pytest.importorskip(
        "matplotlib", reason="matplotlib is not installed: pip install 'bezierflow[plots]'"
    )
    from experiments.figures import draw_figures

    files = draw_figures(tmp_path, seed=0, populations=tmp_path, methods=())
    assert [file.name for file in files] == [
        "simplicial.svg",
        "simplicial.pdf",
        "three-steps.svg",
        "three-steps.pdf",
    ]
    for file in files[::2]:
        text = file.read_text()
        assert text.startswith("<?xml")
        assert text.count("<path") > 300
        assert "<image" not in text
