"""The picture of the home page is what its script draws."""

import xml.etree.ElementTree

from book import pages, picture


def test_the_committed_picture_is_the_one_that_the_script_draws():
    assert (pages.ROOT / "docs/book/palmette.svg").read_text() == picture.drawing()


def test_the_tree_eliminates_every_point_of_the_grid_once():
    root = picture.dissected(31, 31)

    def eliminated(node, width, height):
        if not node.children:
            return width * height
        across, along = sorted((width, height))
        half = (along - 1) // 2
        parts = (half, along - 1 - half)
        return across + sum(eliminated(child, across, part) for child, part in zip(node.children, parts))

    assert eliminated(root, 31, 31) == 31 * 31 == root.points


def test_the_picture_is_well_formed_and_has_a_description():
    drawn = xml.etree.ElementTree.fromstring(picture.drawing())
    leaves = sum(1 for node in picture.nodes_of(picture.dissected(31, 31)) if not node.children)
    assert f"{leaves - 1} separators" in drawn.get("aria-label")
    assert sum("rotate" in element.get("transform", "") for element in drawn.iter()) == leaves
