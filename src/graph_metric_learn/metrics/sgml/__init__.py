"""SGML, the paper's model: encoders, losses, training."""
