"""The tasks that concern accuracy: dump, overflow detection, precision, fusion."""

import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Tuple, TypeVar, Union

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.kinds import is_bool
from npu_config.core.caller import caller_place
from npu_config.core.diagnostics import Place
from npu_config.core.settings import Setting
from npu_config.rules._collected import Collected

if TYPE_CHECKING:
    from typing_extensions import Literal

    from npu_config.catalogue.option_types import MixedMode, PrecisionMode

    Steps = Union[str, int, Sequence[Union[int, Tuple[int, int]]]]
    Directory = Union[str, "os.PathLike[str]"]

_V2_MODES: Tuple[str, ...] = getattr(OPTIONS["precision_mode_v2"].kind, "values", ())

Self = TypeVar("Self", bound="AccuracyTasks")


def number(enabled: Any) -> Any:
    """1 and 0 for True and False; anything else is left for ``build``."""
    return int(enabled) if is_bool(enabled) else enabled


class AccuracyTasks(Collected):
    """One method for each documented task."""

    def data_dump(
        self: Self,
        path: "Directory",
        steps: Optional["Steps"] = None,
        mode: Optional["Literal['input', 'output', 'all']"] = None,
        data: Optional["Literal['tensor', 'stats']"] = None,
        layers: Optional[Sequence[str]] = None,
    ) -> Self:
        """Dump inputs or outputs of operators.

        Sets ``enable_dump`` and ``dump_path``.

        Args:
            path: directory that exists on the host.
            steps: iterations to dump, e.g. ``[0, 5, (10, 20)]``; None: all.
            mode: which side of an operator; None: its outputs.
            data: whole tensors or statistics; None: tensors.
            layers: operator names; None: every operator.

        Source: docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md
        """
        return self._put(
            {"enable_dump": True, "dump_path": path},
            dump_step=steps,
            dump_mode=mode,
            dump_data=data,
            dump_layer=layers,
        )

    def overflow_detection(
        self: Self,
        path: "Directory",
        mode: Optional["Literal['aicore_overflow', 'atomic_overflow', 'all']"] = None,
    ) -> Self:
        """Look for overflow and underflow; not together with :meth:`data_dump`.

        Sets ``enable_dump_debug`` and ``dump_path``.

        Args:
            path: directory that exists on the host.
            mode: kind of overflow; None: all.

        Source: docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md
        """
        return self._put({"enable_dump_debug": True, "dump_path": path}, dump_debug_mode=mode)

    def precision(self: Self, mode: "PrecisionMode") -> Self:
        """Choose the precision policy, in either vocabulary.

        Sets ``precision_mode_v2`` for the words of that option, else ``precision_mode``, and
        takes away the other one, which excludes it.

        Args:
            mode: e.g. ``"origin"``, ``"mixed_float16"`` or ``"allow_mix_precision"``.

        Source: docs/en/tfadapter_1/apiref/session_config/accuracy_tuning.md
        """
        self._precision(mode, caller_place())
        return self

    def _precision(self, mode: str, place: Place) -> None:
        v2 = isinstance(mode, str) and mode in _V2_MODES
        self.unset("precision_mode" if v2 else "precision_mode_v2")
        name = "precision_mode_v2" if v2 else "precision_mode"
        self._entries[name] = Setting(mode, None, place)

    def mixed_precision(
        self: Self,
        mode: "MixedMode" = "allow_mix_precision",
        black_list: Sequence[str] = (),
        white_list: Sequence[str] = (),
        gray_list: Sequence[str] = (),
        mixlist_path: Optional["Directory"] = None,
    ) -> Self:
        """Mixed precision, with changes to the operator lists where some are given.

        Sets ``precision_mode`` or ``precision_mode_v2``, and ``modify_mixlist`` when there is a
        list or a path.  The file is written by :meth:`NpuConfig.save_side_files`.

        Args:
            mode: a mixed mode, e.g. ``"allow_mix_precision_bf16"`` or ``"mixed_float16"``.
            black_list: operator types that keep their precision.
            white_list: operator types whose precision may be reduced.
            gray_list: operator types that follow the operator before them.
            mixlist_path: the file; with lists it defaults to ``"ops_info.json"``, without
                lists it is a file of yours.

        Source: docs/en/tfadapter_1/migration/performance_tuning/mixed_precision_training.md
        """
        self._precision(mode, caller_place())
        if black_list or white_list or gray_list:
            from npu_config.sidefiles import mixlist

            return self._carry(
                "modify_mixlist",
                mixlist_path or "ops_info.json",
                lambda: mixlist.render(
                    mixlist.Mixlist.of(
                        black_list=black_list, white_list=white_list, gray_list=gray_list
                    )
                ),
            )
        return self._put({}, modify_mixlist=mixlist_path)

    def op_precision(
        self: Self,
        by_type: Optional[Mapping[str, str]] = None,
        by_name: Optional[Mapping[str, str]] = None,
        path: "Directory" = "op_precision.ini",
    ) -> Self:
        """Choose precision or speed for single operators.

        Sets ``op_precision_mode``.  The file is written by :meth:`NpuConfig.save_side_files`.

        Args:
            by_type: operator type to mode, e.g. ``{"Pooling": "high_performance"}``.
            by_name: node name to mode; beats ``by_type``.
            path: the file; without ``by_type`` and ``by_name`` it is a file of yours.

        Source: docs/en/tfadapter_1/apiref/session_config/performance_tuning.md
        """
        if by_type or by_name:
            from npu_config.sidefiles import op_precision

            return self._carry(
                "op_precision_mode",
                path,
                lambda: op_precision.render(
                    op_precision.OpPrecision.of(by_type or {}, by_name=by_name or {})
                ),
            )
        return self._put({"op_precision_mode": path})

    def fusion_off(self: Self, path: "Directory" = "fusion_off.cfg") -> Self:
        """Switch every fusion pass off that can be switched off, to find one that harms.

        Sets ``fusion_switch_file``.  The file is written by :meth:`NpuConfig.save_side_files`.

        Source: docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md
        """
        from npu_config.sidefiles import fusion_switch

        return self._carry(
            "fusion_switch_file",
            path,
            lambda: fusion_switch.render(fusion_switch.FusionSwitch.off()),
        )

    def fusion_switch(
        self: Self,
        graph: Optional[Mapping[str, Union[str, bool]]] = None,
        ub: Optional[Mapping[str, Union[str, bool]]] = None,
        path: "Directory" = "fusion_switch.cfg",
    ) -> Self:
        """Switch single fusion passes on or off.

        Sets ``fusion_switch_file``.  The file is written by :meth:`NpuConfig.save_side_files`.

        Args:
            graph: graph fusion pass, or ``"ALL"``, to ``"on"``/``"off"`` or a bool.
            ub: the same for UB fusion passes.
            path: the file; without ``graph`` and ``ub`` it is a file of yours.

        Source: docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md
        """
        if graph or ub:
            from npu_config.sidefiles import fusion_switch

            return self._carry(
                "fusion_switch_file",
                path,
                lambda: fusion_switch.render(
                    fusion_switch.FusionSwitch.of(graph or {}, ub=ub or {})
                ),
            )
        return self._put({"fusion_switch_file": path})

    def deterministic(self: Self, enabled: bool = True) -> Self:
        """Make operators give identical outputs for identical inputs, at the cost of speed.

        Source: docs/en/tfadapter_1/apiref/session_config/basic_options.md
        """
        return self._put({"deterministic": number(enabled)})
