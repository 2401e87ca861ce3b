"""Arrays of any numbers as strategies: drawn as bytes at once, which costs a hundredth."""

import numpy
from hypothesis import strategies as st


def _special(kind):
    """The numbers of a type at which something changes."""
    if kind.kind in "fc":
        limit = numpy.finfo(kind).max
        return [0.0, -0.0, 1.0, numpy.nan, numpy.inf, -numpy.inf, limit, -limit]
    if kind.kind == "b":
        return [True, False]
    return [0, 1, numpy.iinfo(kind).min, numpy.iinfo(kind).max]


@st.composite
def any_numbers(draw, kind, shape=None):
    """An array of a type: any bits, and some of the numbers that matter.

    Without a shape it is flat, of at most 40 elements.
    """
    kind = numpy.dtype(kind)
    shape = (draw(st.integers(0, 40)),) if shape is None else shape
    count = int(numpy.prod(shape))
    size = count * kind.itemsize
    data = draw(st.binary(min_size=size, max_size=size))
    if kind.kind == "b":
        values = numpy.frombuffer(data, "u1") % 2 == 1
    else:
        values = numpy.frombuffer(data, kind).copy()
    if count:
        places = st.lists(st.integers(0, count - 1), max_size=4)
        for place in draw(places):
            values[place] = draw(st.sampled_from(_special(kind)))
    return values.reshape(shape)
