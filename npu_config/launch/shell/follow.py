"""A launch script followed to its end."""

from typing import Dict, Tuple

from npu_config.launch.shell import assignments, control, simple
from npu_config.launch.shell.run import Handler, Loader, Run, several
from npu_config.launch.shell.state import State
from npu_config.launch.shell.syntax import Script

HANDLERS: Dict[str, Handler] = {
    "program": several,
    "do_group": several,
    "compound_statement": several,
    "redirected_statement": simple.redirected,
    "negated_command": several,
    "subshell": control.aside,
    "pipeline": control.aside,
    "list": control.list_,
    "variable_assignment": assignments.assignment,
    "variable_assignments": several,
    "declaration_command": assignments.declaration,
    "unset_command": assignments.unset,
    "command": simple.command,
    "function_definition": control.function,
    "if_statement": control.if_,
    "case_statement": control.case,
    "for_statement": control.for_,
    "c_style_for_statement": control.c_for,
    "while_statement": control.while_,
    "test_command": control.test,
}


def follow(script: Script, load: Loader) -> Tuple[Run, State]:
    """Follow a script to its end.

    Args:
        script: the script.
        load: gives the text of a file that the script names, None when it is not to be had.

    Returns:
        What it starts, and what is set at its end.
    """
    run, state = Run(script, load, HANDLERS, simple.read), State()
    try:
        several(run, state, script.root)
    except RecursionError:  # nested deeper than any script that a person wrote
        state.forget()
    return run, state
