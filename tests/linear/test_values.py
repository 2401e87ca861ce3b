"""A small file whose values double themselves takes no memory: they are unknown in time."""

import tracemalloc

import pytest

from npu_config.readers import read

MIB = 1 << 20
SCRIPT = """\
import json
import os
import tensorflow as tf
from npu_bridge.npu_init import *
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
x = "a"
y = 2
long = "a" * 90000
{}
custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes(x)
custom_op.parameter_map["iterations_per_loop"].i = y
tf.Session(config=config).run(train)
"""
SHELL = """\
#!/bin/bash
A=a
I=2
a=(1 2 3 4 5 6 7 8)
{}
export RANK_SIZE=$A RANK_ID=$I OTHERS="${{a[*]}}"
python3 train.py
"""
IN_SCRIPTS = {
    "replace": "x = long.replace('a', long[:40000])",
    "join": "x = long.join([''] * 1900)",
    "%s": "x = ('%(a)s' * 18000) % {'a': long}",
    "%9999d": "x = ('%(a)9999d' * 9000) % {'a': 1}",
    "format": "x = ('{0}' * 30000).format(long)",
    "f-string": "x = f'" + "{long}" * 1000 + "'",
    "indent": "x = json.dumps([[[1]]], indent=10 ** 9)",
    "indented by text": "x = json.dumps([1] * 1900, indent=long)",
    "separators": "x = json.dumps([1] * 1900, separators=(long, long))",
    "a power": "y = (2 ** 999 * 2 ** 999) ** 999",
    "a rounded number": "y = round(10 ** 400, -10 ** 6)",
    "a codec": "x = (chr(0x430) * 9000).encode('idna')",
    "list of itself": "x = [x, x]\n" * 60 + "x = str(x)",
    "precision": "x = '%.999999999f' % 1.0",
}
IN_SHELL = {
    "a value": "A=$A$A\n" * 60,
    "a value in quotes": 'A="$A $A"\n' * 60,
    "+=": 'A+="$A"\n' * 60,
    "an array": 'a=("${a[@]}" "${a[@]}")\n' * 60,
    "a wide array": "a=(" + '"${a[@]}" ' * 400 + ")\n" + "a=(" + '"${a[@]}" ' * 400 + ")\n",
    "echo": "A=$(echo $A $A)\n" * 60,
    "a wide word": "A=" + "a" * 4000 + "\nA=" + "$A" * 2900 + "\n",
    "a wide word in quotes": "A=" + "a" * 4000 + '\nA="' + "${A}" * 1500 + ' "\n',
    "words": "A='" + "a " * 2000 + "'\npython3 a.py " + "$A " * 1800 + "\n",
    "words of a loop": "A='" + "a " * 2000 + "'\nfor i in " + "$A " * 1800 + "; do :; done\n",
    "arguments": "f() { f " + '"$@" ' * 50 + "; }\nf a b\n",
    "a here-document": "A='" + "a" * 4000 + "'\ncat > t.json <<EOF\n" + "$A" * 2900 + "\nEOF\n",
    "nested loops": "for i in 1 2 3 4 5 6 7 8; do\n" * 5 + "A=$A$i\n" + "done\n" * 5,
}


@pytest.mark.parametrize(
    ("kind", "text"),
    [pytest.param("script", SCRIPT.format(each), id=name) for name, each in IN_SCRIPTS.items()]
    + [pytest.param("shell", SHELL.format(each), id=name) for name, each in IN_SHELL.items()],
)
def test_values_that_double_themselves(kind, text):
    """Some ten kilobytes never take more than 64 MiB, and there is no fault of ours."""
    assert len(text) < 16_000
    read("a", kind, SCRIPT.format("").encode()).judge()  # what is loaded once
    tracemalloc.start()
    try:
        found = read("a", kind, text.encode()).judge()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [str(each) for each in found if each.rule == "NPU700"] == []
    assert peak < 64 * MIB
