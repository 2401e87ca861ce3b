import gc
import subprocess
import sys
import textwrap

import pytest
from google.protobuf import descriptor_pool

from npu_config.proto import stub_config_proto
from npu_config.proto.schema import graph_message, session_message
from tools.descriptors import Declarations


def _run(code):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.split()


def test_the_class_is_made_once():
    """Asking twice gives the same class, and parts of a message have the classes of the pool."""
    config = stub_config_proto()()
    assert stub_config_proto() is session_message("ConfigProto")
    assert type(config.gpu_options) is session_message("GPUOptions")
    graph = graph_message("GraphDef")()
    assert type(graph.node.add().attr["x"]) is session_message("AttrValue")


def test_parts_outlive_the_collection_of_garbage():
    """The classes of a message's parts are kept (protobuf 4.22 to 4.24 ends the process else)."""
    config = stub_config_proto()()
    for part in ("graph_options", "rewrite_options", "custom_optimizers"):
        gc.collect()
        config = getattr(config, part)
    gc.collect()
    entry = config.add(name="NpuOptimizer")
    gc.collect()
    entry.parameter_map["x"].list.s.append(b"y")
    gc.collect()
    assert list(entry.parameter_map["x"].list.s) == [b"y"]


def test_the_pool_is_private():
    """Nothing is registered where TensorFlow registers its messages."""
    before = "tensorflow" in sys.modules
    session_message("ConfigProto")
    if not before:
        with pytest.raises(KeyError):
            descriptor_pool.Default().FindMessageTypeByName("tensorflow.ConfigProto")


@pytest.mark.parametrize("name", ["Nonsense", "config_proto", ""])
def test_unknown_messages_are_a_key_error(name):
    """A name that is not declared is a KeyError."""
    with pytest.raises(KeyError):
        session_message(name)


def test_importing_the_package_does_not_import_protobuf():
    """Only making a message costs the import of protobuf."""
    code = "import sys, npu_config.proto; print('google.protobuf' in sys.modules)"
    assert _run(code) == ["False"]


def test_graph_messages_are_built_only_when_asked_for():
    """Plain configuration work does not pay for the graph's messages."""
    code = """
        from npu_config.proto import schema
        schema.session_message("ConfigProto")
        print(schema._graph_pool.cache_info().currsize)
        schema.graph_message("GraphDef")
        print(schema._graph_pool.cache_info().currsize)
        """
    assert _run(code) == ["0", "1"]


def test_memory_optimization_has_no_off():
    """The vendor's recipe writes Toggle.OFF into memory_optimization, where it means MANUAL."""
    fields = session_message("RewriterConfig").DESCRIPTOR.fields_by_name
    toggles = fields["remapping"].enum_type.values_by_name
    kinds = fields["memory_optimization"].enum_type
    assert kinds.values_by_number[toggles["OFF"].number].name == "MANUAL"
    assert kinds.values_by_name["NO_MEM_OPT"].number == 1


@pytest.mark.parametrize("text", ["message A { int32 a 1; }", "message A { B b = 1; }"])
def test_a_mistake_in_a_declaration_is_an_error(text):
    """A declaration that does not hold together is found when it is built."""
    with pytest.raises(ValueError, match=r"expected =, found 1|unknown type B"):
        Declarations("x.proto", text, {})
