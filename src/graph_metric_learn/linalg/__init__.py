"""Linear algebra that several rooms need, one copy each: squared distances, principal axes, kernel ridge regression."""
