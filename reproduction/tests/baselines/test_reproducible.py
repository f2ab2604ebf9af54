import torch

from graph_metric_learn_reproduction.baselines.reproducible import deterministic, local_seed, one_thread


def test_the_seed_is_local():
    state = torch.get_rng_state()
    draws = []
    for seed in (1, 1, 2):
        with local_seed(seed, torch.device("cpu")):
            draws.append(torch.rand(3))
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])
    assert torch.equal(torch.get_rng_state(), state)


def test_one_thread_for_a_while():
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


def test_sums_in_a_fixed_order_on_a_gpu_for_a_while():
    with deterministic(torch.device("cpu")):
        assert not torch.are_deterministic_algorithms_enabled()
    with deterministic(torch.device("cuda")):
        assert torch.are_deterministic_algorithms_enabled()
        assert torch.is_deterministic_algorithms_warn_only_enabled()
    assert not torch.are_deterministic_algorithms_enabled()
