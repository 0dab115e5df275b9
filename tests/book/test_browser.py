"""The site in a headless Chromium, as readers see it; skipped where there is none (in Debian: chromium).

Wide screens have 1,400 pixels, narrow ones 400. PALMETTE_BOOK_PAGES=all looks at every page instead of a
few of each kind.
"""

import os

import pytest

from book import chromium

WIDTHS = (1400, 400)
SOME = [
    f"{page}.html"
    for page in (
        *("index", "tutorial", "howto/interior_point", "guide/python", "guide/command", "guide/verification"),
        *("reference/python/palmette", "reference/cpp/solver", "reference/c", "reference/command"),
        *("results/speed", "results/reproduction", "glossary", "references"),
    )
]
# What sticks out of the window, if anything; boxes that scroll by themselves are no harm.
TOO_WIDE = """(() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return '';
  const all = [...document.querySelectorAll('article *')];
  const wide = all.filter(e => e.getBoundingClientRect().right > width + 1);
  const first = wide.slice(0, 3).map(e => e.outerHTML.slice(0, 120));
  return document.documentElement.scrollWidth + ' pixels: ' + first;
})()"""
BROKEN_PICTURES = "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
BACKGROUND = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
RESULTS = "[...document.querySelectorAll('#search-results li a')].map(a => a.getAttribute('href'))"


@pytest.fixture(scope="module")
def site(built):
    with chromium.Server(built) as server:
        yield server


@pytest.fixture(scope="module")
def browser():
    program = chromium.chromium_here()
    if program is None:
        pytest.skip("there is no Chromium (Debian: apt-get install --no-install-recommends chromium)")
    with chromium.Browser(program) as opened:
        yield opened


@pytest.fixture(autouse=True)
def silent_console(request):
    """No page may leave an error on the console."""
    opened = request.getfixturevalue("browser") if "browser" in request.fixturenames else None
    if opened:
        opened.errors.clear()
    yield
    if opened:
        assert opened.errors == []


def pages_to_see(built):
    if os.environ.get("PALMETTE_BOOK_PAGES") != "all":
        return SOME
    pages = sorted(path.relative_to(built).as_posix() for path in built.rglob("*.html"))
    return [page for page in pages if page != "search.html"]  # it is empty until one searches


@pytest.mark.parametrize("width", WIDTHS)
def test_pages_render_without_sticking_out(built, site, browser, width):
    browser.set_width(width)
    for page in pages_to_see(built):
        browser.open(site.address + page)
        assert browser.value("document.querySelector('h1')?.innerText.trim()"), page
        assert browser.value(BROKEN_PICTURES) == [], page
        assert browser.value(TOO_WIDE) == "", page
        assert browser.errors == [], page


@pytest.mark.parametrize("width", WIDTHS)
def test_a_reader_who_types_inertia_finds_it(site, browser, width):
    browser.set_width(width)
    browser.open(site.address + "index.html")
    browser.value("""(() => { const box = document.querySelector('.sidebar-search');
                      box.value = 'inertia'; box.form.submit(); })()""")
    browser.wait_for("location.pathname.endsWith('search.html') && document.readyState === 'complete'")
    browser.wait_for("document.querySelector('#search-results .search-summary')?.innerText.includes('found')")
    found = " ".join(browser.value(RESULTS))
    for page in ("reference/python/palmette.html", "reference/cpp/solver.html", "howto/interior_point.html"):
        assert page in found, found


def test_the_button_turns_the_page_dark_and_light(site, browser):
    browser.set_width(1400)
    browser.open(site.address + "tutorial.html")
    seen = {}
    for _ in range(3):
        browser.value("document.querySelector('.content-icon-container .theme-toggle').click()")
        seen[browser.value("document.body.dataset.theme")] = sum(browser.value(BACKGROUND))
    assert seen["dark"] < 150 and seen["light"] > 600


def test_a_reader_whose_system_is_dark_gets_dark_pages(site, browser):
    browser.set_width(1400, dark=True)
    browser.value("localStorage.clear()")
    browser.open(site.address + "tutorial.html")
    assert sum(browser.value(BACKGROUND)) < 150


def test_code_can_be_copied_and_links_are_told_from_text(site, browser):
    browser.set_width(1400)
    browser.open(site.address + "tutorial.html")
    assert browser.value("document.querySelectorAll('button.copybtn').length") > 5
    colour = "getComputedStyle(document.querySelector('article %s')).color"
    assert browser.value(colour % "p a.reference.internal") != browser.value(colour % "p")


def test_an_error_on_the_console_and_a_page_that_is_too_wide_are_noticed(tmp_path, browser):
    (tmp_path / "bad.html").write_text(
        "<article><h1>Bad</h1><div style='width:3000px'>wide</div><img src='gone.png'></article>"
        "<script>console.error('told'); nothing.here</script>"
    )
    with chromium.Server(tmp_path) as server:
        browser.set_width(400)
        browser.open(server.address + "bad.html")
        assert browser.value(TOO_WIDE).startswith("30")
        assert len(browser.value(BROKEN_PICTURES)) == 1
        browser.value("1")
    assert any("told" in error for error in browser.errors)
    assert any("nothing is not defined" in error for error in browser.errors)
    assert any("404" in error for error in browser.errors)
    browser.errors.clear()
