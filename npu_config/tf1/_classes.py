"""A metaclass for classes whose base, or whose whole implementation, is found on first use."""

from __future__ import annotations

import abc
import sys
from typing import Any, ClassVar, Dict, Optional, Tuple

from npu_config.tf1 import vendor
from npu_config.tf1._lazy import errors


class VendorFirst(abc.ABCMeta):
    """A class that is the vendor's own where the vendor's package can be imported.

    A class says with ``vendor_place`` (module and name) what it stands for, and with
    ``late_base`` which class of TensorFlow it extends, where importing that would cost too
    much before it is needed (``tf.contrib``).  Making an object makes the vendor's object,
    or one of a subclass of both, and ``isinstance`` holds for either.
    """

    _concrete: ClassVar[Dict[type, type]] = {}

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        place: Optional[Tuple[str, str]] = vars(cls).get("vendor_place")
        theirs = None if place is None else vendor.find(*place)
        if theirs is not None:
            return theirs(*args, **kwargs)
        return super(VendorFirst, cls._with_late_base()).__call__(*args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        place: Optional[Tuple[str, str]] = vars(cls).get("vendor_place")
        if place is None or vendor.PACKAGE not in sys.modules:
            return False
        try:
            theirs = vendor.find(*place)
        except errors.VendorError:
            return False
        return isinstance(theirs, type) and isinstance(instance, theirs)

    def _with_late_base(cls) -> VendorFirst:
        late_base = getattr(cls, "late_base", None)
        base = None if late_base is None else late_base()
        if base is None or issubclass(cls, base):
            return cls
        if cls not in VendorFirst._concrete:
            namespace = {
                "__doc__": cls.__doc__,
                "__module__": cls.__module__,
                "__qualname__": cls.__qualname__,
            }
            VendorFirst._concrete[cls] = VendorFirst(cls.__name__, (cls, base), namespace)
        concrete = VendorFirst._concrete[cls]
        assert isinstance(concrete, VendorFirst)
        return concrete
