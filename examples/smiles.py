"""Molecules from SMILES: names that travel, rows that cannot be read, and folds that keep scaffolds together.

python examples/smiles.py
"""

import numpy as np
from sklearn.model_selection import GroupKFold, cross_val_score

import graph_metric_learn as gml

# The two classes have the same elements: alcohols carry their oxygen at the end of a chain, ethers within it.
RINGS = {"benzene": "c1ccccc1", "pyridine": "c1ccncc1", "furan": "c1ccoc1", "cyclohexane": "C1CCCCC1", "chain": "CC(C)"}
TAILS = {
    "alcohol": ["CO", "CCO", "C(C)O", "CCCO", "C(C)CO", "CCCCO"],
    "ether": ["OC", "COC", "OCC", "CCOC", "OCCC", "COCCC"],
}


def make_molecules() -> tuple[list[str], list[str], list[str]]:
    """SMILES, names and classes; the last SMILES is none."""
    rows = [
        (smiles + tail, f"{kind} {number} of {ring}", kind)
        for ring, smiles in RINGS.items()
        for kind, tails in TAILS.items()
        for number, tail in enumerate(tails, start=1)
    ]
    rows.append(("C1CC", "a ring that is not closed", "ether"))
    smiles, names, kinds = zip(*rows, strict=True)
    return list(smiles), list(names), list(kinds)


def main() -> None:
    smiles, names, kinds = make_molecules()
    graphs = gml.from_smiles(smiles, names=names, on_error="skip")  # warns, and names the row
    y = np.array(kinds)[graphs.rows]  # of those that could be read
    print(f"{len(graphs)} of {len(smiles)} molecules")

    classifier = gml.GraphKNNClassifier(gml.GraphMetric(random_state=0), n_neighbors=3)
    groups = gml.datasets.scaffolds(graphs.smiles)
    scores = cross_val_score(classifier, graphs, y, groups=groups, cv=GroupKFold(3))
    print(f"accuracy on scaffolds that were not learned from: {scores.mean():.1%}")

    classifier.fit(graphs, y)
    new = gml.from_smiles(["OCc1ccsc1", "COc1ccsc1"], names=["thienylmethanol", "methoxythiophene"])
    _, nearest = classifier.kneighbors(new, n_neighbors=1)
    for graph, kind, (neighbor,) in zip(new, classifier.predict(new), nearest, strict=True):
        print(f"{graph.name}: {kind}, nearest is {graphs[neighbor].name}")


if __name__ == "__main__":
    main()
