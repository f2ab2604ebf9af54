"""The demo's molecules: well-known ones, written down here, with a number that RDKit computes from each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...graphs.sources.smiles import from_smiles, parse, rdkit_chem

TARGET = "logP by Crippen's rules: how much rather a molecule dissolves in oil than in water"

# Name and SMILES.
_WRITTEN = """
methane C | ethane CC | propane CCC | butane CCCC | hexane CCCCCC | octane CCCCCCCC | decane CCCCCCCCCC
isooctane CC(C)CC(C)(C)C | cyclohexane C1CCCCC1 | decalin C1CCC2CCCCC2C1 | ethylene C=C | isoprene CC(=C)C=C
acetylene C#C | limonene CC1=CCC(CC1)C(C)=C | alpha-pinene CC1=CCC2CC1C2(C)C | myrcene CC(C)=CCCC(=C)C=C
squalene CC(C)=CCCC(C)=CCCC(C)=CCCC=C(C)CCC=C(C)CCC=C(C)C | benzene c1ccccc1 | toluene Cc1ccccc1
p-xylene Cc1ccc(C)cc1 | styrene C=Cc1ccccc1 | naphthalene c1ccc2ccccc2c1 | anthracene c1ccc2cc3ccccc3cc2c1
phenanthrene c1ccc2c(c1)ccc1ccccc12 | pyrene c1cc2ccc3cccc4ccc(c1)c2c34 | biphenyl c1ccc(cc1)-c1ccccc1
azulene c1ccc2cccc2cc1 | chloroform ClC(Cl)Cl | dichloromethane ClCCl | carbon-tetrachloride ClC(Cl)(Cl)Cl
chlorobenzene Clc1ccccc1 | bromobenzene Brc1ccccc1 | iodobenzene Ic1ccccc1 | fluorobenzene Fc1ccccc1
DDT ClC(Cl)(Cl)C(c1ccc(Cl)cc1)c1ccc(Cl)cc1 | methanol CO | ethanol CCO | propanol CCCO | isopropanol CC(C)O
butanol CCCCO | octanol CCCCCCCCO | glycol OCCO | glycerol OCC(O)CO | phenol Oc1ccccc1 | catechol Oc1ccccc1O
hydroquinone Oc1ccc(O)cc1 | menthol CC(C)C1CCC(C)CC1O | geraniol CC(C)=CCCC(C)=CCO | thymol CC(C)c1ccc(C)cc1O
eugenol C=CCc1ccc(O)c(OC)c1 | vanillin COc1cc(C=O)ccc1O | acetone CC(C)=O | butanone CCC(C)=O
cyclohexanone O=C1CCCCC1 | camphor CC1(C)C2CCC1(C)C(=O)C2 | acetaldehyde CC=O | benzaldehyde O=Cc1ccccc1
cinnamaldehyde O=CC=Cc1ccccc1 | citral CC(C)=CCCC(C)=CC=O | diethyl-ether CCOCC | THF C1CCOC1 | dioxane C1COCCO1
anisole COc1ccccc1 | formic-acid OC=O | acetic-acid CC(O)=O | butyric-acid CCCC(O)=O | lactic-acid CC(O)C(O)=O
oxalic-acid OC(=O)C(O)=O | citric-acid OC(=O)CC(O)(C(O)=O)CC(O)=O | tartaric-acid OC(C(O)C(O)=O)C(O)=O
benzoic-acid OC(=O)c1ccccc1 | salicylic-acid OC(=O)c1ccccc1O | palmitic-acid CCCCCCCCCCCCCCCC(O)=O
stearic-acid CCCCCCCCCCCCCCCCCC(O)=O | oleic-acid CCCCCCCCC=CCCCCCCCC(O)=O | ethyl-acetate CCOC(C)=O
isoamyl-acetate CC(C)CCOC(C)=O | methyl-salicylate COC(=O)c1ccccc1O | methylamine CN | triethylamine CCN(CC)CC
aniline Nc1ccccc1 | pyridine c1ccncc1 | pyrrole c1cc[nH]c1 | imidazole c1c[nH]cn1 | indole c1ccc2[nH]ccc2c1
quinoline c1ccc2ncccc2c1 | furan c1ccoc1 | thiophene c1ccsc1 | acetonitrile CC#N | nitrobenzene O=[N+]([O-])c1ccccc1
TNT Cc1c(cc(cc1[N+](=O)[O-])[N+](=O)[O-])[N+](=O)[O-] | DMF CN(C)C=O | DMSO CS(C)=O | urea NC(N)=O
glycine NCC(O)=O | alanine CC(N)C(O)=O | valine CC(C)C(N)C(O)=O | leucine CC(C)CC(N)C(O)=O | serine NC(CO)C(O)=O
cysteine NC(CS)C(O)=O | methionine CSCCC(N)C(O)=O | phenylalanine NC(Cc1ccccc1)C(O)=O
tyrosine NC(Cc1ccc(O)cc1)C(O)=O | tryptophan NC(Cc1c[nH]c2ccccc12)C(O)=O | lysine NCCCCC(N)C(O)=O
aspartic-acid NC(CC(O)=O)C(O)=O | glutamic-acid NC(CCC(O)=O)C(O)=O | glucose OCC1OC(O)C(O)C(O)C1O
fructose OCC1(O)OCC(O)C(O)C1O | sucrose OCC1OC(OC2(CO)OC(CO)C(O)C2O)C(O)C(O)C1O | ribose OCC1OC(O)C(O)C1O
sorbitol OCC(O)C(O)C(O)C(O)CO | adenine Nc1ncnc2[nH]cnc12 | guanine Nc1nc2[nH]cnc2c(=O)[nH]1
cytosine Nc1cc[nH]c(=O)n1 | thymine Cc1c[nH]c(=O)[nH]c1=O | uracil O=c1cc[nH]c(=O)[nH]1
caffeine Cn1c(=O)c2c(ncn2C)n(C)c1=O | theobromine Cn1cnc2c1c(=O)[nH]c(=O)n2C | nicotine CN1CCCC1c1cccnc1
dopamine NCCc1ccc(O)c(O)c1 | serotonin NCCc1c[nH]c2ccc(O)cc12 | melatonin COc1ccc2[nH]cc(CCNC(C)=O)c2c1
adrenaline CNCC(O)c1ccc(O)c(O)c1 | histamine NCCc1c[nH]cn1 | capsaicin COc1cc(CNC(=O)CCCCC=CC(C)C)ccc1O
aspirin CC(=O)Oc1ccccc1C(O)=O | paracetamol CC(=O)Nc1ccc(O)cc1 | ibuprofen CC(C)Cc1ccc(cc1)C(C)C(O)=O
naproxen COc1ccc2cc(ccc2c1)C(C)C(O)=O | diclofenac OC(=O)Cc1ccccc1Nc1c(Cl)cccc1Cl | lidocaine CCN(CC)CC(=O)Nc1c(C)cccc1C
diazepam CN1c2ccc(Cl)cc2C(=NCC1=O)c1ccccc1 | fluoxetine CNCCC(Oc1ccc(cc1)C(F)(F)F)c1ccccc1
metformin CN(C)C(=N)NC(N)=N | sulfanilamide Nc1ccc(cc1)S(N)(=O)=O | chlorpromazine CN(C)CCCN1c2ccccc2Sc2ccc(Cl)cc12
propranolol CC(C)NCC(O)COc1cccc2ccccc12 | warfarin CC(=O)CC(c1ccccc1)c1c(O)c2ccccc2oc1=O | coumarin O=c1ccc2ccccc2o1
testosterone CC12CCC3C(CCC4=CC(=O)CCC34C)C1CCC2O | estradiol CC12CCC3c4ccc(O)cc4CCC3C1CCC2O
cholesterol CC(C)CCCC(C)C1CCC2C3CC=C4CC(O)CCC4(C)C3CCC12C | vitamin-C OCC(O)C1OC(=O)C(O)=C1O
retinol CC1=C(C(C)(C)CCC1)C=CC(C)=CC=CC(C)=CCO | quercetin O=c1c(O)c(oc2cc(O)cc(O)c12)-c1ccc(O)c(O)c1
resveratrol Oc1ccc(cc1)C=Cc1cc(O)cc(O)c1 | saccharin O=C1NS(=O)(=O)c2ccccc12
THC CCCCCc1cc(O)c2C3C=C(C)CCC3C(C)(C)Oc2c1
"""


class Molecules(NamedTuple):
    """Graphs, their names and numbers [N]."""

    graphs: list[Any]
    names: list[str]
    y: np.ndarray


def well_known_molecules() -> Molecules:
    """The molecules with their logP; needs RDKit."""
    rdkit_chem()
    from rdkit.Chem import Crippen

    logp: Any = Crippen.MolLogP  # type: ignore[attr-defined]  # RDKit makes it while it is imported
    entries = [entry.split() for line in _WRITTEN.strip().splitlines() for entry in line.split("|")]
    names = [name.replace("-", " ") if name[1] != "-" else name for name, _ in entries]
    smiles = [text for _, text in entries]
    y = np.array([logp(parse(text)) for text in smiles])
    return Molecules(list(from_smiles(smiles, names=names)), names, y)
