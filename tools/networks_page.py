"""docs/networks.md: the public networks of tools/networks.yaml and what came of each."""

from collections import Counter
from typing import List, Sequence

from tools.networks import Network, networks

PATH = "docs/networks.md"

_TEXT = """\
# Public networks run

Scripts that were published for the NPU, run as they are with `npu-config run`: TensorFlow 1.15.5
on a CPU, synthetic data, a few steps. A network *runs* when its training steps are made, the loss
stays finite and the exit code is 0. Those called `-ranks` are run with `--ranks 2`, and each rank
makes its steps.

{counts}

| network | how it trains | outcome |
| --- | --- | --- |
{rows}

## Where they are

Each folder was copied whole, with the data beside it, and nothing in it was changed.

| network | repository and script | commit |
| --- | --- | --- |
{places}

## Again

`tools/networks.yaml` has the folder, script, data, arguments and variables of each. With copies of
the repositories below one folder (`repositories/owner/name/`), a Python 3.7 with TensorFlow
1.15.5, and what the networks import:

<!-- not run: needs TensorFlow 1.15 and the repositories -->
```console
$ pip install tensorflow==1.15.5 pillow scipy pandas matplotlib tqdm easydict jieba
$ pip install scikit-learn==0.22.2.post1 tf_slim  # for keras-swa: 0.24 removed a module
$ python -m tools.networks repositories --logs logs           # all of them
$ python -m tools.networks repositories lenet nezha-pretraining
```

Each runs in a temporary copy, for at most `--limit` seconds, and its processes are ended with it.
The exit code is 1 when an outcome is not that of the table. The data come from `tools.synthetic`,
which makes one small data set of a kind; the same seed gives the same bytes:

<!-- not run: needs Pillow, which is installed above -->
```console
$ python -m tools.synthetic mnist MNIST train=6000
$ python -m tools.synthetic tfrecord train-0 count=32 image/encoded=jpeg@64,64,3 label=int:9
$ python -m tools.synthetic --help                            # the kinds
```
"""
_FAULTS = {
    "script": "a fault of the script",
    "dependency": "a package that cannot be had",
    "tensorflow": "TensorFlow on a CPU",
    "ours": "npu_config",
}


def render() -> str:
    """The page."""
    table = networks()
    return _TEXT.format(
        counts=_counts(table),
        rows="\n".join(
            "| {} | {} | {} |".format(each.name, each.idiom, _outcome(each)) for each in table
        ),
        places="\n".join(
            "| {} | {}: `{}/{}` | `{:.10}` |".format(
                each.name, each.repository, each.folder, each.script, each.commit
            )
            for each in table
        ),
    )


def _counts(table: Sequence[Network]) -> str:
    alone = [each for each in table if not each.ranks]
    faults = Counter(each.fault for each in alone if each.outcome == "fails")
    parts: List[str] = [
        "{} networks, {} run".format(len(alone), sum(each.outcome == "runs" for each in alone)),
        "{} of them as two ranks, too".format(
            sum(each.outcome == "runs" for each in table if each.ranks)
        ),
    ]
    for fault, text in _FAULTS.items():
        parts.append("{} held up by {}".format(faults[fault], text))
    return "; ".join(parts) + "."


def _outcome(network: Network) -> str:
    text = "runs" if network.outcome == "runs" else "fails: " + _FAULTS[network.fault]
    return "{}. {}".format(text, network.reason) if network.reason else text
