"""Saved models as earlier versions wrote them: without a digest of the JSON file."""

import json


def as_version_2(folder, *, without=()):
    """Rewrites model.json in the format of version 2, without some entries of the configuration."""
    head = json.loads((folder / "model.json").read_text())
    for name in ("library", "tensors", "digest"):
        del head[name]
    for name in without:
        del head["config"][name]
    (folder / "model.json").write_text(json.dumps({**head, "version": 2}))
