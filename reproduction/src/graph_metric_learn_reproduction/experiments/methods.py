"""The methods that are compared, by name: the settings they search, the node features they use, what they need."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from graph_metric_learn._core.validation import one_of

from .settings import GRAPHMETRIC_VARIANTS, SGML_VARIANTS, SMALL_ONLY, TASKS, Task, is_learned, variant


def method_names() -> list[str]:
    """All names that `--methods` takes."""
    from ..baselines import BASELINES

    return [*SGML_VARIANTS, *GRAPHMETRIC_VARIANTS, *BASELINES, "wwl-last"]


def baseline(method: str) -> tuple[Any, dict[str, Any]]:
    """The class of a baseline by its name, and parameters that are not searched."""
    from ..baselines import BASELINES

    one_of("method", method, method_names())
    if method == "wwl-last":  # the paper's ablation
        return BASELINES["wwl"], {"last_only": True}
    return BASELINES[method], {}


def grid(task: Task, method: str, preset: str = "authors", **changes: Any) -> list[dict[str, Any]]:
    """All settings of a method that are searched on a task; what the method or the caller fixes is not searched.

    None for a task of the tables that the method is not run on.

    >>> [setting["depth"] for setting in grid(Task("MUTAG", "degree"), "rpw")]
    [1, 2, 3, 4]
    >>> [setting["n_epochs"] for setting in grid(Task("MUTAG", "degree"), "random", depth=2)]
    [0]
    """
    if method in SGML_VARIANTS:
        fixed = {**SGML_VARIANTS[method], **changes}
        settings = [{"n_components": 5, **variant(method, preset), **point, **fixed} for point in task.settings()]
    elif method in GRAPHMETRIC_VARIANTS:
        settings = [{**GRAPHMETRIC_VARIANTS[method], **changes}]
    elif task.name in TASKS and task.dataset not in SMALL_ONLY.get(method, (task.dataset,)):
        settings = []
    else:
        kind, fixed = baseline(method)
        settings = [{**point, **fixed, **changes} for point in kind.grid(task.features, task.dataset)]
    return list({json.dumps(setting, sort_keys=True): setting for setting in settings}.values())


def task_read_by(method: str, task: Task) -> Task:
    """The task with the features that a method uses: one that compares labels gets those instead of attributes.

    >>> task_read_by("wl-oa", Task("ENZYMES", "fuse")).name, task_read_by("wl-oa", Task("MUTAG", "degree")).name
    ('ENZYMES (labels)', 'MUTAG (degree)')
    """
    if is_learned(method) or not baseline(method)[0].discrete:
        return task
    return replace(task, features="labels") if task.features in ("attributes", "fuse") else task


def has_own_classifier(method: str) -> bool:
    """Whether a method classifies by itself, without distances or a kernel."""
    return not is_learned(method) and hasattr(baseline(method)[0], "fit")


def missing_packages(method: str) -> list[str]:
    """Packages that a method needs and that are not installed."""
    return [] if is_learned(method) else baseline(method)[0].missing()
