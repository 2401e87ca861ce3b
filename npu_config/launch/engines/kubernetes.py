"""A job for Volcano on Kubernetes: a pod for each server, the rank table from the operator.

The ConfigMap ``rings-config-NAME`` is what the vendor's cluster operator fills with the rank table
once every pod has its devices; until then its status is ``initializing``.

Source: mind-cluster:docs/zh/scheduling (Volcano jobs, rings-config), volcano.sh/docs/vcjob.
"""

import json
import pkgutil
import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from npu_config.core.message import phrase
from npu_config.core.versions import Product
from npu_config.launch.environment.launcher import sourcing
from npu_config.rank_table.building import refusal
from npu_config.text.plain_text import is_plain_yaml, is_utf8

TABLE_FOLDER = "/user/serverid/devindex/config"
TABLE = TABLE_FOLDER + "/hccl.json"
_LAUNCH_FOLDER = "/npu-launch"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?\Z")
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z")
_RING = "ring-controller.atlas"
_EXPANDED = re.compile(r"\$(?=[$(])")

RESOURCES: Mapping[Product, Tuple[str, str]] = {
    Product.ATLAS_TRAINING: ("huawei.com/Ascend910", "ascend-910"),
    Product.ATLAS_A2: ("huawei.com/Ascend910", "ascend-910b"),
}
"""Product to the name of its devices as a resource, and the value of the operator's label."""


def kubernetes_objects(
    name: str,
    servers: int,
    devices: int,
    image: str,
    command: Sequence[str],
    product: Optional[Product],
    extra: Optional[Mapping[str, str]] = None,
    namespace: str = "default",
    sources: Sequence[str] = (),
) -> List[Dict[str, Any]]:
    """The ConfigMaps and the Volcano job.

    Args:
        name: the name of the job; it is ``JOB_ID`` too.
        servers: how many pods.
        devices: how many devices each has.
        image: the container image with TensorFlow, the adapter and the training script.
        command: what each rank runs.
        product: decides the resource and the label.
        extra: further variables for every process.
        namespace: of all objects.
        sources: scripts of the image that are sourced before.

    Raises:
        NpuConfigError: a name that Kubernetes refuses, a product without such devices, or no
            command.
    """
    if _NAME.match(name) is None:
        raise refusal(
            '"{}" cannot be the name of a Kubernetes job'.format(name),
            "use lower-case letters, digits and -, at most 42 characters",
        )
    if _NAMESPACE.match(namespace) is None:
        raise refusal(
            phrase('"{}" cannot be a Kubernetes namespace', namespace),
            "use lower-case letters, digits and -, at most 63 characters",
        )
    if not image or re.search(r"\s", image):
        raise refusal(
            phrase('"{}" cannot be the name of a container image', image),
            "write it as a registry knows it, without blanks",
        )
    if not command:
        raise refusal("a job needs the command of the ranks", "pass it after --")
    if product is None or product not in RESOURCES:
        raise refusal(
            "the devices of {} have no resource name here".format(
                "an unknown product" if product is None else product.value
            ),
            "give --target: {}".format(", ".join(each.value for each in RESOURCES)),
        )
    for text in (image, *command, *sources, *(extra or {}).values()):
        if not is_utf8(text):
            raise refusal(phrase('"{}" is not UTF-8; YAML cannot carry it', text), "rename it")
    resource, ring = RESOURCES[product]
    labels = {_RING: ring}
    rings = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "rings-config-" + name, "namespace": namespace, "labels": labels},
        "data": {"hccl.json": json.dumps({"status": "initializing"})},
    }
    source = pkgutil.get_data(__package__, "pod.py")
    assert source is not None
    launch = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name + "-launch", "namespace": namespace},
        "data": {"pod.py": source.decode("utf-8")},
    }
    variables: List[Dict[str, Any]] = [
        {"name": variable, "value": _literal(text)}
        for variable, text in {"JOB_ID": name, "NPU_RANK_TABLE": TABLE, **(extra or {})}.items()
    ]
    for variable, field in (("NPU_HOST_IP", "status.hostIP"), ("NPU_NODE", "spec.nodeName")):
        variables.append({"name": variable, "valueFrom": {"fieldRef": {"fieldPath": field}}})
    start = ["python3", _LAUNCH_FOLDER + "/pod.py"]
    if sources:
        start = ["bash", "-c", sourcing(sources) + 'exec "$@"\n', "npu-launch", *start]
    container = {
        "name": "ascend",
        "image": image,
        "command": [_literal(word) for word in (*start, *command)],
        "env": variables,
        "resources": {"limits": {resource: devices}, "requests": {resource: devices}},
        "volumeMounts": [
            {"name": "rank-table", "mountPath": TABLE_FOLDER, "readOnly": True},
            {"name": "launch", "mountPath": _LAUNCH_FOLDER, "readOnly": True},
            {"name": "driver", "mountPath": "/usr/local/Ascend/driver", "readOnly": True},
            {"name": "memory", "mountPath": "/dev/shm"},
        ],
    }
    apart = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {
                    "labelSelector": {"matchLabels": {"npu-job": name}},
                    "topologyKey": "kubernetes.io/hostname",
                }
            ]
        }
    }
    pod = {
        "metadata": {"labels": {**labels, "npu-job": name}},
        "spec": {
            "restartPolicy": "Never",
            "affinity": apart,
            "containers": [container],
            "volumes": [
                {"name": "rank-table", "configMap": {"name": "rings-config-" + name}},
                {"name": "launch", "configMap": {"name": name + "-launch"}},
                {"name": "driver", "hostPath": {"path": "/usr/local/Ascend/driver"}},
                {"name": "memory", "emptyDir": {"medium": "Memory"}},
            ],
        },
    }
    job = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "minAvailable": servers,
            "schedulerName": "volcano",
            "policies": [
                {"event": "PodFailed", "action": "AbortJob"},
                {"event": "TaskCompleted", "action": "CompleteJob"},
            ],
            "tasks": [{"name": "worker", "replicas": servers, "template": pod}],
        },
    }
    return [rings, launch, job]


def _literal(text: str) -> str:
    """A text of a container as Kubernetes has to get it, which fills in ``$(NAME)``.

    Source: kubernetes.io/docs, Container v1 core, ``command`` and ``env.value``.
    """
    return _EXPANDED.sub("$$", text)


def kubernetes_yaml(objects: Sequence[Mapping[str, Any]]) -> str:
    """The objects as one YAML text for ``kubectl apply``."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Texts of several lines stay such, to be read and edited; others are never numbers."""

    def text(dumper: Any, value: str) -> Any:
        style = "|" if "\n" in value else None if is_plain_yaml(value) else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    return str(yaml.dump_all(objects, Dumper=Dumper, sort_keys=False))
