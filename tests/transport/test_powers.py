import pytest
import torch

from graph_metric_learn.transport.powers import distances_from_squares, power

COSTS = [0.0, 0.25, 1.0, 9.0]


@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("grad", [False, True])
def test_powers_and_their_gradients(exponent, grad):
    costs = torch.tensor(COSTS, dtype=torch.float64, requires_grad=grad)
    raised = power(costs, exponent)
    torch.testing.assert_close(raised.detach(), torch.tensor([c**exponent for c in COSTS], dtype=torch.float64))
    if grad:
        raised.sum().backward()
        wanted = [exponent * c ** (exponent - 1) if c else float(exponent == 1) for c in COSTS]
        torch.testing.assert_close(costs.grad, torch.tensor(wanted, dtype=torch.float64))


def test_distances_are_made_in_place_unless_they_need_gradients():
    squares = torch.tensor(COSTS)
    assert distances_from_squares(squares, squared=True) is squares
    assert squares.tolist() == COSTS
    assert distances_from_squares(squares, squared=False) is squares
    assert squares.tolist() == [0.0, 0.5, 1.0, 3.0]
    squares = torch.tensor(COSTS, requires_grad=True)
    roots = distances_from_squares(squares, squared=False)
    assert squares.tolist() == COSTS
    roots.sum().backward()
    assert squares.grad[0] == 0
