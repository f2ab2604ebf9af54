"""Short SMILES whose rings are many."""


def necklace(k):
    """A ring of k cyclobutanes, each joined to the next in one atom: k + 2**k smallest rings."""
    beads = [f"C{1 + (i - 1) % 2}(C{1 + i % 2})C" for i in range(1, k - 1)]
    return "".join(["C89(C1)C", *beads, f"C{1 + k % 2}(C8)C9"])


def cycloparaphenylene(k):
    """A ring of k benzenes: as many."""
    return "-".join(["c1%99ccc(cc1)", *["c1ccc(cc1)"] * (k - 2), "c1ccc(cc1)%99"])


def sheet(rows, columns, atom):
    """Six-membered rings like those of graphene, of any atoms."""
    lines = []
    for i in range(rows + 1):
        line = ""
        for j in range(2 * columns + 2):
            up, down = i > 0 and (i + j) % 2 == 0, i < rows and (i + j) % 2 == 1
            line += atom + (f"%({100 * i + j})" if up else "") + (f"%({100 * (i + 1) + j})" if down else "")
        lines.append(line)
    return ".".join(lines)
