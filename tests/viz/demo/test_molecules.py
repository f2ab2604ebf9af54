import numpy as np
import pytest

from graph_metric_learn.viz.demo.molecules import well_known_molecules


def test_molecules_are_what_their_names_say():
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    from rdkit import Chem
    from rdkit.Chem.rdMolDescriptors import CalcMolFormula

    graphs, names, y = well_known_molecules()
    formulas = {graph.name: CalcMolFormula(Chem.MolFromSmiles(graph.smiles)) for graph in graphs}
    assert len(formulas) == len(names) == len(y) == 149
    known = {"caffeine": "C8H10N4O2", "aspirin": "C9H8O4", "p-xylene": "C8H10", "cholesterol": "C27H46O"}
    assert {name: formulas[name] for name in known} == known
    by_name = dict(zip(names, y, strict=True))
    assert by_name["sucrose"] < by_name["ethanol"] < by_name["benzene"] < by_name["stearic acid"]
    assert np.isfinite(y).all()
