"""Reads a page as a browser would: fails on tags that do not match and on anything that is run or fetched."""

from html.parser import HTMLParser

VOID = {"meta", "img", "circle", "path"}  # elements without an end tag


class Page(HTMLParser):
    """What a page holds: ids of its sections, links, images, drawings, and its text."""

    def __init__(self, source):
        super().__init__()
        self.open, self.ids, self.links, self.images, self.drawings, self.tags = [], [], [], [], [], []
        self.text = ""
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "section":
            self.ids.append(values["id"])
        if tag == "img":
            self.images.append(values)
        if tag == "svg":
            self.drawings.append(values)
        self.links += [values[name] for name in ("src", "href", "srcset", "data", "action") if name in values]
        assert tag not in ("script", "link", "iframe", "object", "base")
        assert not any(name.startswith("on") for name in values)

    def handle_startendtag(self, tag, attributes):
        assert tag in VOID
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data

    def assert_fetches_nothing(self):
        assert all(link.startswith(("data:", "#")) for link in self.links)
