"""The tables of the documentation are those of the results on file."""

import pytest
from experiments.pages import MARKED, PAGES, TABLES, filled


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_table_of_a_page_is_what_the_results_say(page):
    text = page.read_text(encoding="utf-8")
    assert filled(text) == text


def test_every_table_is_in_a_page():
    named = [
        found[2] for page in PAGES for found in MARKED.finditer(page.read_text(encoding="utf-8"))
    ]
    assert sorted(named) == sorted(TABLES)
