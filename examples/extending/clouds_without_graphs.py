"""
Clouds without graphs
=====================

The distances work on any point clouds, NumPy or torch, with weights and with gradients: here on clouds that
look the same along every axis, and then to pull one cloud towards another.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch

import graph_metric_learn as gml

rng = np.random.default_rng(0)


def diagonal(falling, n):
    x = rng.uniform(-1, 1, n)
    return np.stack([x, -x if falling else x], axis=1) + 0.2 * rng.normal(size=(n, 2))


clouds = [diagonal(i % 2, int(rng.integers(40, 120))) for i in range(60)]
kinds = np.arange(60) % 2

# %%
# Points along a rising or a falling diagonal: both have the same first coordinates, and the same second ones. The
# distance sorts by one coordinate and compares whole points, so it sees which go together. All pairs, exactly:

matrix = gml.pairwise_distances(clouds)
nearest = (matrix + np.diag([np.inf] * 60)).argmin(axis=1)
print(f"nearest cloud is of the same kind: {(kinds[nearest] == kinds).mean():.0%}")

# %%
# One pair: the distance, and how much of each point goes where. It is never below the Wasserstein distance.

distance, log = gml.rpw_distance(clouds[0], clouds[1], log=True)
print(f"{distance:.3f}, plan {log['plan'].shape} with total mass {log['plan'].sum():.3f}")

# %%
# With gradients: 100 steps that pull a rising diagonal towards a falling one.

points = torch.tensor(clouds[0]).requires_grad_()
goal = torch.tensor(clouds[1])
before = points.detach().numpy().copy()
optimizer = torch.optim.Adam([points], lr=0.03)
losses = []
for _ in range(100):
    optimizer.zero_grad()
    loss = gml.rpw_distance(points, goal, squared=True)
    loss.backward()
    optimizer.step()
    losses.append(float(loss.detach()))
print(f"squared distance {losses[0]:.3f} before, {losses[-1]:.3f} after")

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained", sharex=True, sharey=True)
shown = {"before": before, "after 100 steps": points.detach().numpy(), "the goal": goal.numpy()}
for ax, (title, cloud) in zip(axes, shown.items(), strict=True):
    ax.scatter(*cloud.T, s=8)
    ax.set(title=title, aspect="equal")
plt.show()
