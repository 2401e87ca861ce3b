"""A device that miscomputes: chosen fusion passes, operator types, a precision mode.

It reads a configuration and its side files without any code of npu_config, and leaves what a job
would: records of overflows, or tensors.  Without an overflow it leaves nothing at all.
"""

import json

import attr
import numpy
import yaml
from dumps import dump_writer as w


@attr.s(auto_attribs=True)
class Device:
    """The device, with what is wrong with it.

    Args:
        root: where dumps go, whatever the configuration says.
        passes: each makes the result wrong where it is on.
        types: each makes it wrong where it is computed in float16.
        jobs: how many jobs ran.
    """

    root: object
    passes: frozenset = frozenset()
    types: frozenset = frozenset()
    jobs: int = 0

    def faults(self, path):
        """What is wrong in a run with a configuration."""
        options = {}
        for group in yaml.safe_load(path.read_text()).values():
            options.update(group if isinstance(group, dict) else {})
        off = set()
        if "fusion_switch_file" in options:
            switch = json.loads((path.parent / options["fusion_switch_file"]).read_text())
            for switches in switch["Switch"].values():
                off |= {name for name, state in switches.items() if state == "off"}
        kept = set()
        if "modify_mixlist" in options:
            lists = json.loads((path.parent / options["modify_mixlist"]).read_text())
            kept |= set(lists.get("black-list", {}).get("to-add", ()))
        if options.get("precision_mode") == "must_keep_origin_dtype":
            kept |= self.types
        return options, (self.passes - off) | (self.types - kept)

    def job(self, path):
        """Run a job; returns whether its result is right."""
        options, faults = self.faults(path)
        run = "202601020304{:02}".format(self.jobs)
        self.jobs += 1
        if options.get("enable_dump_debug"):
            for task, name in enumerate(sorted(faults), 1):
                folder = w.step_folder(self.root, 0, run)
                tensors = [w.array(side, numpy.ones(2, "f2")) for side in ("input", "output")]
                w.operator(folder, "net/" + name, tensors, name, task)
                w.opdebug(folder, task, 2, 0x20, 1767323045000000 + task)
        if options.get("enable_dump"):
            folder = w.step_folder(self.root, 0, run)
            for name in ("a", "b"):
                wrong = name == "b" and faults
                values = numpy.array([1, -2, 3, 4][:: -1 if wrong else 1], "f4")
                w.operator(folder, name, [w.array("output", values)])
        return not faults
