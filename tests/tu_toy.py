"""A small dataset in TU format, written to folders and zips."""

import io
import zipfile

import numpy as np
import torch

# Graph 1 is the path 1 - 2 - 3 beside an isolated node 4, graph 2 the edge 5 - 6, graph 3 the lone node 7. In A.txt one
# edge comes in one direction only, one twice, and nodes 2 and 7 have self-loops.
TOY = {
    "A": "1, 2\n2,1\n3, 2\n3, 2\n2, 2\n5 ,6\n6, 5\n7, 7\n",
    "graph_indicator": "1\n1\n1\n1\n2\n2\n3\n",
    "graph_labels": "4\n-2\n4\n",
    "node_labels": "0\n2\n2\n0\n3\n0\n9\n",
    "node_attributes": " 1.0, 7\n 1.0, 7\n3.0,7\n3.0, 7\n2, 7\n2, 7\n100, 8\n",
}


def write_folder(folder, files=TOY, name="TOY", **changes):
    (folder / name).mkdir(parents=True, exist_ok=True)
    for what, text in {**files, **changes}.items():
        if text is not None:
            (folder / name / f"{name}_{what}.txt").write_text(text)
    return folder


def zipped(files=TOY, name="TOY", inside="TOY/"):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for what, text in files.items():
            # Of a fixed date: two made one after the other are the same bytes.
            archive.writestr(zipfile.ZipInfo(f"{inside}{name}_{what}.txt"), text, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def same(one, other):
    assert one.name == other.name
    np.testing.assert_array_equal(one.y, other.y)
    for a, b in zip(one.graphs, other.graphs, strict=True):
        assert sorted(a.keys()) == sorted(b.keys())
        assert all(torch.equal(torch.as_tensor(a[key]), torch.as_tensor(b[key])) for key in a.keys())  # noqa: SIM118
