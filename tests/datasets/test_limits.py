import zipfile

import pytest
import torch

from graph_metric_learn.datasets.limits import (
    LIMIT_VARIABLE,
    check_unpacked,
    check_xml,
    max_unpacked,
    refuse_large,
    size_in_bytes,
    unpacking_at_most,
)


def test_the_limit_can_be_set(monkeypatch):
    assert max_unpacked() == 4 * 2**30
    monkeypatch.setenv(LIMIT_VARIABLE, "1000")
    refuse_large(1000, "small.zip")
    with pytest.raises(
        ValueError, match=f"large.zip unpacks to 1,001 bytes or more.*{LIMIT_VARIABLE} in the environment"
    ):
        refuse_large(1001, "large.zip")
    monkeypatch.setenv(LIMIT_VARIABLE, "much")
    with pytest.raises(ValueError, match="must be a number of bytes"):
        max_unpacked()
    with unpacking_at_most(7):
        assert max_unpacked() == 7  # whatever the environment says


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5G", "G", "much", "1e9", "5X", "9" * 40])
def test_sizes_in_words(text):
    assert [size_in_bytes(good) for good in ("7", "2k", " 3M ", "1T")] == [7, 2048, 3 * 2**20, 2**40]
    with pytest.raises(ValueError, match="is not a size"):
        size_in_bytes(text)


def test_archives_are_measured_before_they_are_read(tmp_path, monkeypatch):
    torch.save({"x": torch.zeros(10)}, tmp_path / "a.pt")
    check_unpacked(tmp_path / "a.pt")
    with zipfile.ZipFile(tmp_path / "bomb.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data", b"\0" * 10**6)
    monkeypatch.setenv(LIMIT_VARIABLE, "100000")
    with pytest.raises(ValueError, match=r"bomb.pt unpacks to 1,000,000 bytes"):
        check_unpacked(tmp_path / "bomb.pt")


LAUGHS = '<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><graphml>&b;</graphml>'


@pytest.mark.parametrize(
    ("text", "words"),
    [(LAUGHS, "document type"), ("<a>" * 70 + "</a>" * 70, "nested more than 64"), ("<graphml>", "no element found")],
)
def test_xml_without_entities_and_of_little_depth(tmp_path, text, words):
    file = tmp_path / "graph.graphml"
    file.write_text("<graphml><graph/></graphml>")
    check_xml(file)
    for encoding in ("utf-8", "utf-16"):
        file.write_bytes(text.replace('version="1.0"', f'version="1.0" encoding="{encoding}"').encode(encoding))
        with pytest.raises(Exception, match=words):
            check_xml(file)
