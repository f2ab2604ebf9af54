import numpy as np
import pytest
import torch

from graph_metric_learn_benchmarks import gpu


def test_the_quick_run_measures_everything(device):
    report = gpu.run(quick=True, device=device, random_state=0)
    errors = {target["what"]: target for target in report.targets if target["what"].startswith("error against")}
    assert len(errors) == 7
    assert all(target["met"] for target in errors.values())
    assert set(report.numbers) == {
        "quick", "errors", "limits", "all_pairs", "nearest", "nearest_vectors", "numpy_pairs_ms", "to_host",
        "many_models", "large_batches", "step_ms_by_batch",
    }  # fmt: skip
    assert report.numbers["many_models"]["cpu_as_one_by_one"]
    assert gpu.draw(report).startswith(b"\x89PNG")


@pytest.mark.parametrize("fault", ["scale", "symmetry", "diagonal"])
def test_wrong_distances_are_seen(device, monkeypatch, fault):
    real = gpu.pairwise_distances

    def slightly_wrong(clouds, **options):
        found = real(clouds, **options)
        if clouds[0].dtype == np.float32:
            wrong = {"scale": np.s_[:], "symmetry": np.s_[0, 1], "diagonal": np.s_[3, 3]}[fault]
            found[wrong] = found[wrong] * 1.01 if fault == "scale" else found[wrong] + 1e-5
        return found

    monkeypatch.setattr(gpu, "pairwise_distances", slightly_wrong)
    report = gpu.Report("gpu", machine={})
    gpu._check_distances(report, np.random.default_rng(0), torch.device(device), 60)
    assert not report.targets[0]["met"]


def test_numbers_are_seeded(device):
    draws = [gpu._relu_points(np.random.default_rng(seed), 20, torch.device(device)) for seed in (0, 0, 1)]
    assert torch.equal(draws[0][0], draws[1][0])
    assert not torch.equal(draws[0][0][:50], draws[2][0][:50])
