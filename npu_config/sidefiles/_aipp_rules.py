"""The rules of insert_op_file (AIPP)."""

from functools import partial

from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare

_TEMPLATE = "cann/ge:docs/zh/user_guides/atc_tools/AIPP/config_file_template.md"
_OPTION = "cann/ge:docs/zh/user_guides/atc_tools/CLI_options/--insert_op_conf.md"

_rule = partial(declare, options=("insert_op_file",), source=(_TEMPLATE,))


@_rule(
    "NPU760", Severity.ERROR, source=(_OPTION, _TEMPLATE), help="write aipp_op { name: value ... }"
)
def insert_op_syntax() -> None:
    """The AIPP configuration cannot be read.

    The file is protobuf text: blocks `aipp_op { ... }` with one `field: value` after the other
    and `#` comments.  The graph engine refuses anything else when it prepares the graph.

    Wrong:

    ```
    aipp_op
      aipp_mode = static
    ```

    Right:

    ```
    aipp_op {
      aipp_mode: static
      input_format: RGB888_U8
    }
    ```
    """


@_rule("NPU761", Severity.WARNING, help="keep one of them, with the name of a field")
def insert_op_field() -> None:
    """A field of an `aipp_op` block is not in the documented template, or is there twice.

    Protobuf text with an unknown field is refused as a whole.  npu_config knows the fields of
    the vendor's template only, so this is a warning.

    Wrong: `aipp_op { aipp_mode: static input_formt: RGB888_U8 }`

    Right: `aipp_op { aipp_mode: static input_format: RGB888_U8 }`
    """


@_rule("NPU762", Severity.ERROR, help="give a legal value, or leave it out")
def insert_op_value() -> None:
    """A field of an `aipp_op` block has a value of the wrong kind or out of its range.

    Wrong: `aipp_op { aipp_mode: static input_format: RGB888 mean_chn_0: 300 }`

    Right: `aipp_op { aipp_mode: static input_format: RGB888_U8 mean_chn_0: 104 }`
    """


@_rule("NPU763", Severity.ERROR, help="correct the fields that belong together")
def insert_op_combination() -> None:
    """The fields of an `aipp_op` block do not go together, or one is missing.

    `aipp_mode` is always needed, `input_format` with static AIPP, `max_src_image_size` with
    dynamic AIPP.  YUV420SP_U8 needs even image sizes (and, but on ascend_950, even crop
    positions).  Cropping and padding need the image size, and a cropped area lies inside the
    image.

    Wrong: `aipp_op { aipp_mode: static }`

    Right: `aipp_op { aipp_mode: static input_format: RGB888_U8 }`
    """


@_rule("NPU769", Severity.WARNING, help="remove the field")
def insert_op_reserved() -> None:
    """A field of an `aipp_op` block is not supported at present.

    The template documents `support_rotation`, `rotation_angle`, `resize` and its sizes,
    `single_line_mode` and `cpadding_value` as reserved, and `raw_rgbir_to_f16_n` as not
    supported: what they ask for does not happen.

    Wrong: `aipp_op { aipp_mode: static input_format: RGB888_U8 resize: true }`

    Right: `aipp_op { aipp_mode: static input_format: RGB888_U8 }`, and resize before.
    """
