"""No link of the site is broken, and the checker finds those that are."""

import pytest

from book import links, pages


def test_every_link_of_the_site_leads_somewhere(built):
    site = links.Site(built)
    assert len(site.texts) > 60
    assert site.complaints() == []


def test_a_broken_link_a_broken_anchor_and_a_foreign_script_are_named(tmp_path):
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="b.html#there">1</a><a href="b.html#gone">2</a><a href="c.html">3</a>'
        '<a href="#top">4</a><a href="https://example.org/">5</a>'
        '<script src="https://example.org/x.js"></script>'
    )
    (tmp_path / "b.html").write_text('<p id="there">B</p>')
    assert links.Site(tmp_path).complaints() == [
        "a.html links to b.html#gone: no such anchor",
        "a.html links to c.html: no such file",
        "a.html loads https://example.org/x.js from another site",
    ]


def test_a_link_of_a_page_to_a_missing_file_stops_the_build(tmp_path):
    writer = pages.Writer(tmp_path)
    assert writer.prose("docs/tutorial.md", "[a](howto/README.md)") == "[a](/howto/index.md)"
    with pytest.raises(pages.BrokenLink, match="howto/gone.md"):
        writer.prose("docs/tutorial.md", "[a](howto/gone.md)")


def test_keys_of_references_become_links_and_code_stays(tmp_path):
    writer = pages.Writer(tmp_path)
    assert writer.prose("docs/tutorial.md", "as in [Davis 2006]") == "as in [[Davis 2006](#ref-davis-2006)]"
    assert writer.prose("docs/tutorial.md", "`[Davis 2006]`") == "`[Davis 2006]`"


def test_every_reference_that_has_an_address_links_to_it(built):
    text = (built / "references.html").read_text()
    keys = pages.reference_keys()
    assert len(keys) > 80
    assert all(f'id="{pages.anchor_of(key)}"' in text for key in keys)
    assert text.count('href="https://doi.org/') > 60
