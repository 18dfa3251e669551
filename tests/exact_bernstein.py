"""Bézier simplices in exact rational arithmetic, for tests to compare with."""

from fractions import Fraction

from bezierflow.simplex import multi_indices, multinomial


def exact_basis(t, degree, by=()):
    """z(t) as fractions, t taken as the exact values of its floats; differentiated by t_m for each
    m in `by`."""
    t = [Fraction(float(coordinate)) for coordinate in t]
    values = []
    for index in multi_indices(len(t), degree).tolist():
        value = Fraction(multinomial(tuple(index)))
        for m in by:
            value *= index[m]
            index[m] = max(index[m] - 1, 0)
        for coordinate, exponent in zip(t, index, strict=True):
            value *= coordinate**exponent
        values.append(value)
    return values


def exact_value(control_points, t, degree, by=()):
    """b(t|P), or its derivative by t_m for each m in `by`, as floats, rounded once at the very
    end."""
    weights = exact_basis(t, degree, by)
    columns = zip(*control_points.tolist(), strict=True)
    return [
        float(sum(w * Fraction(p) for w, p in zip(weights, column, strict=True)))
        for column in columns
    ]
