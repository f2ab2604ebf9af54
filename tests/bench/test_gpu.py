from graph_metric_learn.bench import gpu


def test_all_the_motions(device, capsys):
    report = gpu.run(quick=True, device=device)
    judged = {target["what"]: target for target in report.targets}
    assert all(target["met"] for what, target in judged.items() if what.startswith("error against"))
    assert {"all_pairs", "nearest", "to_host", "many_models", "large_batches", "step_ms_by_batch"} <= set(
        report.numbers
    )
    assert gpu.draw(report).startswith(b"\x89PNG")
