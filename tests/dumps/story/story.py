"""A float16 overflow from a wrong loss to the change that cures it, by commands alone.

Each command is a child of this process, so TensorFlow is imported once.  Prints a JSON list of
(command, exit code, output).
"""

import gc
import json
import os
import re
import sys
import tempfile

import tensorflow as tf

from npu_config.__main__ import main

assert tf.__version__
gc.freeze()  # no child looks for garbage in it
TOLD = []


def npu_config(line):
    """Type one command; what it prints."""
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if not child:
            os.dup2(output.fileno(), 1)
            os.dup2(os.open(os.devnull, os.O_WRONLY) if line.startswith("run") else 1, 2)
            code = 70
            try:
                code = main(line.split())
                sys.stdout.flush()
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        output.seek(0)
        text = output.read().decode()
    TOLD.append((line, os.WEXITSTATUS(status), text))
    return text


def search(line):
    """Do what the search says, until it has found something."""
    text = npu_config(line)
    while "run the job with" in text:
        config = re.search("run the job with (.*?), then", text).group(1)
        npu_config("run train.py " + config)
        text = npu_config("dump search state.json --dump dump")
        if "there is no new run" in text:
            text = npu_config("dump search state.json " + re.search("--agrees \\d+", text).group())


npu_config("run train.py config.yaml")
npu_config("dump overflow dump")
npu_config("generate config.yaml --set enable_dump=true --set enable_dump_debug=false"
           " --to yaml -o dump.yaml")  # fmt: skip
npu_config("run train.py dump.yaml")
npu_config("dump scan dump --graph .")
npu_config("run train.py config.yaml --tfdbg")
npu_config("tfdbg-export tfdbg reference")
npu_config("dump compare dump reference --graph .")
search("dump search state.json --config config.yaml --dump dump --type Mul --type Log1p")
npu_config("generate state_found.yaml --set enable_dump=true --set enable_dump_debug=false"
           " --to yaml -o final.yaml")  # fmt: skip
npu_config("run train.py final.yaml")
npu_config("dump compare dump reference --graph .")
json.dump(TOLD, sys.stdout)
