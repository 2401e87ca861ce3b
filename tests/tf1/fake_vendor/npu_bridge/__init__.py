"""A stand-in for the vendor's package, written for the tests: it records what is called.

Its modules and names are those of the documented surface; nothing in it does anything.
"""

CALLS = []


def recorded(name, result=None):
    """A function that records its calls under a name."""

    def call(*args, **kwargs):
        CALLS.append((name, args, kwargs))
        return result(*args, **kwargs) if callable(result) else result

    call.__name__ = name.rpartition(".")[2]
    return call


class Recorded:
    """A class that records how its objects are made."""

    def __init__(self, *args, **kwargs):
        CALLS.append((type(self).__name__, args, kwargs))
        self.args, self.kwargs = args, kwargs


class Module:
    """A module whose functions record their calls."""

    def __init__(self, name, **results):
        self._name = name
        for attribute, result in results.items():
            setattr(self, attribute, recorded("{}.{}".format(name, attribute), result))
