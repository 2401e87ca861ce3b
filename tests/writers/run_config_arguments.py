"""What arguments of NPURunConfig mean, by the fields that the catalogue names."""

from npu_config.catalogue import OPTIONS


def options_of(arguments):
    """The options that arguments of NPURunConfig set; those of tf.estimator.RunConfig set none."""
    options = {}
    for name, option in OPTIONS.items():
        value = arguments if option.run_config is not None else None
        for step in (option.run_config or "").split("."):
            value = None if value is None else value.get(step)
        if value is not None:
            is_bytes = isinstance(value, bytes)
            options[name] = value.decode("utf-8", "surrogateescape") if is_bytes else value
    return options
