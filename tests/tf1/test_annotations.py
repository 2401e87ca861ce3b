"""Scopes, attributes and the helpers of ``util``: what they write, what they refuse."""

import os

import pytest

from tests.tf1.support import operations, vectors

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.tensorflow

VECTORS = {
    vector["id"]: vector
    for vector in vectors("graph_behaviour.jsonl")
    if vector["id"].startswith("util/")
}


@pytest.fixture
def abc(tf):
    """Two constants and their sum: a, b and c."""
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    return a, b, tf.add(a, b, name="c")


def attributes(graph):
    """The attributes that begin with an underscore, by node."""
    found = {}
    for operation in graph.get_operations():
        for name, content in operation.node_def.attr.items():
            if name.startswith("_") and name not in ("_class", "_output_shapes"):
                value = getattr(content, content.WhichOneof("value"))
                value = value.decode() if isinstance(value, bytes) else value
                found.setdefault(operation.name, {})[name] = value
    return found


SCOPES = {
    "without_npu_compile_scope": ((), {"_without_npu_compile": True}),
    "npu_variable_scope": ((), {"_variable_placement": "all"}),
    "keep_dtype_scope": ((), {"_keep_dtype": 1}),
    "npu_stage_scope": ((3,), {"_stage_level": 3}),
    "npu_mem_type_scope": ((), {"_output_memory_type": 1}),
    "npu_weight_prefetch_scope": (
        (2, 1024),
        {"_buffer_pool_id": 2, "_buffer_pool_size": 1024},
    ),
    "op_specified_engine_scope": (
        ("AIcoreEngine", "lib"),
        {"_specified_engine_name": "AIcoreEngine", "_specified_kernel_lib_name": "lib"},
    ),
    "npu_qos_label_scope": ((4,), {"_qos_service_label": 4}),
    "subgraph_multi_dims_scope": ((1,), {"_subgraph_multi_dims_index": 1}),
    "npu_optimizer_scope": ((), {"_optimizer": True}),
    "disable_autofuse": ((), {"_disable_autofuse_scope": True}),
    "limit_core_num_scope": (("0", "20"), {"_op_vectorcore_num": "20"}),
}


@pytest.mark.parametrize("name", sorted(SCOPES))
def test_scopes(name, tf):
    """A scope writes its attributes to the nodes inside, and to no others."""
    from npu_config.tf1 import scopes

    arguments, expected = SCOPES[name]
    with getattr(scopes, name)(*arguments):
        tf.constant(1, name="inside")
    tf.constant(2, name="outside")
    assert {"inside": expected} == attributes(tf.get_default_graph())


def test_default_of_the_prefetch_pool(tf):
    """The default pool is number 0 with 512 MiB."""
    from npu_config.tf1.scopes import npu_weight_prefetch_scope

    with npu_weight_prefetch_scope():
        tf.constant(1, name="x")
    expected = {"_buffer_pool_id": 0, "_buffer_pool_size": 512 * 1024 * 1024}
    assert {"x": expected} == attributes(tf.get_default_graph())


def test_placements(tf):
    """Every member of NpuExecutePlacement is a placement."""
    from npu_config.tf1 import NpuExecutePlacement, scopes

    for member in NpuExecutePlacement:
        with scopes.npu_variable_scope(member):
            tf.constant(1, name=member.name)
    assert {
        member.name: {"_variable_placement": member.value} for member in NpuExecutePlacement
    } == attributes(tf.get_default_graph())


def test_name_scopes(tf):
    """Recomputing and slicing are named scopes."""
    from npu_config.tf1 import scopes

    with scopes.npu_recompute_scope():
        assert tf.constant(1, name="x").op.name == "NpuRecompute/x"
    with scopes.npu_graph_slice_scope(2):
        assert tf.constant(1, name="x").op.name == "SliceNum-2-NpuGraphSlicing2/x"


@pytest.mark.parametrize(
    ("name", "arguments", "error"),
    [
        ("npu_variable_scope", ("host",), TypeError),
        ("npu_stage_scope", ("1",), TypeError),
        ("npu_graph_slice_scope", (0,), ValueError),
        ("npu_graph_slice_scope", ("1",), TypeError),
        ("limit_core_num_scope", (), ValueError),
        ("limit_core_num_scope", ("0", "-1"), ValueError),
        ("limit_core_num_scope", ("0", 20), TypeError),
        ("op_specified_engine_scope", (1, "lib"), TypeError),
        ("subgraph_multi_dims_scope", (True,), TypeError),
    ],
)
def test_scopes_refuse(name, arguments, error, tf):
    """A wrong argument is refused when the scope is made, not when it is entered."""
    from npu_config.tf1 import scopes

    with pytest.raises(error, match="NPU858"):
        getattr(scopes, name)(*arguments)


class TestVectors:
    """``graph_behaviour.jsonl``."""

    @pytest.mark.parametrize(
        ("name", "call"),
        [
            ("tensor_default", lambda util, a, c: util.set_graph_exec_config(c)),
            (
                "lazy",
                lambda util, a, c: util.set_graph_exec_config(
                    c, True, "lazy_recompile", None, True
                ),
            ),
            ("list", lambda util, a, c: util.set_graph_exec_config([a, c.op], True)),
            (
                "tuple_nested_str",
                lambda util, a, c: util.set_graph_exec_config((a, ["c:0"]), True),
            ),
            ("dynamic_int", lambda util, a, c: util.set_graph_exec_config(c, 1)),
        ],
    )
    def test_set_graph_exec_config(self, name, call, tf, abc):
        """The same attributes on the same nodes, and the same result."""
        from npu_config.tf1 import util

        a, _, c = abc
        returned = call(util, a, c)
        expected = VECTORS["util/set_graph_exec_config/" + name]["result"]
        assert expected["node_attrs"] == attributes(tf.get_default_graph())
        assert expected["returned"].split("shape")[0] == str(repr(returned)).split("shape")[0]

    def test_set_graph_exec_config_by_name(self, abc):
        """A name gives the tensor back."""
        from npu_config.tf1 import util

        assert util.set_graph_exec_config("c:0") is abc[2]

    def test_recompute(self, tf, abc):
        """An ExperimentalConfig with recompute sets its attribute."""
        from npu_config.tf1 import ExperimentalConfig, GraphMemoryOptimizeConfig, util

        memory = GraphMemoryOptimizeConfig(recompute="manual")
        config = ExperimentalConfig(graph_memory_optimize_config=memory)
        util.set_graph_exec_config(abc[2], experimental_config=config)
        assert attributes(tf.get_default_graph())["c"]["_recompute_mode"] == "manual"

    @pytest.mark.parametrize(
        ("name", "call"),
        [
            ("set_graph_exec_config/badfetch", lambda u, a, c: u.set_graph_exec_config(3)),
            (
                "set_graph_exec_config/variable",
                lambda u, a, c: u.set_graph_exec_config(
                    __import__("tensorflow").compat.v1.Variable(1.0, use_resource=False)
                ),
            ),
            ("set_graph_exec_config/dict", lambda u, a, c: u.set_graph_exec_config({"c": c})),
            (
                "set_graph_exec_config/dynamic_str",
                lambda u, a, c: u.set_graph_exec_config(c, "true"),
            ),
            (
                "set_graph_exec_config/exp_bad",
                lambda u, a, c: u.set_graph_exec_config(c, experimental_config={}),
            ),
            ("keep_tensors_dtypes/badgraph", lambda u, a, c: u.keep_tensors_dtypes("g", ["c:0"])),
            ("keep_tensors_dtypes/badlist", lambda u, a, c: u.keep_tensors_dtypes(c.graph, "c:0")),
            ("keep_tensors_dtypes/tensor", lambda u, a, c: u.keep_tensors_dtypes(c.graph, [c])),
            (
                "keep_tensors_dtypes/missing",
                lambda u, a, c: u.keep_tensors_dtypes(c.graph, ["c:0", "zz:0"]),
            ),
        ],
    )
    def test_refused(self, name, call, tf, abc):
        """What the vendor refuses is refused, and no node is changed."""
        from npu_config.tf1 import util

        assert "error" in VECTORS["util/" + name]
        with pytest.raises(ValueError, match="NPU858"):
            call(util, abc[0], abc[2])
        assert attributes(tf.get_default_graph()) == {}

    @pytest.mark.parametrize(
        ("name", "call"),
        [
            ("set_op_tensor_max_range/tensor", lambda u, a: u.set_op_tensor_max_range(a, "10,20")),
            (
                "set_op_input_tensor_multi_dims",
                lambda u, a: u.set_op_input_tensor_multi_dims(a, "a:-1", "1;2"),
            ),
            ("set_op_tensor_max_size", lambda u, a: u.set_op_tensor_max_size(a, 100)),
        ],
    )
    def test_attributes(self, name, call, tf, abc):
        """The attributes of single nodes."""
        from npu_config.tf1 import util

        assert call(util, abc[0]) is None
        assert VECTORS["util/" + name]["result"]["node_attrs"] == attributes(
            tf.get_default_graph()
        )

    @pytest.mark.parametrize(
        "call",
        [
            lambda u, a: u.set_op_tensor_max_range("a", "10"),
            lambda u, a: u.set_op_tensor_max_range(a, [10]),
            lambda u, a: u.set_op_tensor_max_size(a, "100"),
            lambda u, a: u.set_op_input_tensor_multi_dims(a, "a:-1", None),
        ],
    )
    def test_attributes_refuse(self, call, abc):
        """What is no tensor, and values of a wrong kind, are refused."""
        from npu_config.tf1 import util

        with pytest.raises(TypeError, match="NPU858"):
            call(util, abc[0])

    def test_create_or_get_var(self, tf):
        """A variable under any name is created once, with the names of the vector."""
        from npu_config.tf1 import util

        created = util.create_or_get_var("foo")
        expected = VECTORS["util/create_or_get_var/custom"]["result"]["node_attrs"]
        assert util.create_or_get_var("foo") is created
        assert set(expected) <= {one["name"] for one in operations(tf.get_default_graph())}


def test_keep_tensors_dtypes(tf, abc):
    """The operations of the named tensors keep their types."""
    from npu_config.tf1 import util

    util.keep_tensors_dtypes(tf.get_default_graph(), ["a:0", "c:0"])
    assert attributes(tf.get_default_graph()) == {"a": {"_keep_dtype": 1}, "c": {"_keep_dtype": 1}}


class TestUtil:
    """The checking functions, the store, and initialisation on the host."""

    @pytest.mark.parametrize(
        ("name", "arguments", "error"),
        [
            ("check_not_none", (None, "x"), ValueError),
            ("check_positive_integer", (0, "x"), ValueError),
            ("check_positive_integer", ("1", "x"), TypeError),
            ("check_positive_integer", (numpy.int64(1), "x"), TypeError),
            ("check_nonnegative_integer", (-1, "x"), ValueError),
            ("check_nonnegative_integer", (0.0, "x"), TypeError),
            ("check_bool_type", (1, "x"), TypeError),
            ("format_string", (b"x", "x"), TypeError),
            ("check_profiling_options", ("training_trace",), ValueError),
            ("check_profiling_options", ([],), ValueError),
            ("check_profiling_options", (["training_trace", "x"],), ValueError),
            ("check_aoe_mode", ("3",), ValueError),
            ("check_path", ("no/such/path",), ValueError),
            ("check_path", (__file__,), ValueError),
        ],
    )
    def test_refused(self, name, arguments, error):
        """A wrong value is refused with the name that was given for it."""
        pytest.importorskip("tensorflow")
        from npu_config.tf1 import util

        with pytest.raises(error, match="NPU859"):
            getattr(util, name)(*arguments)

    def test_accepted(self, tmp_path):
        """Right values give what the vendor's functions give."""
        pytest.importorskip("tensorflow")
        from npu_config.tf1 import util

        assert util.check_not_none(0, "x") is None
        assert util.check_positive_integer(True, "x") is None
        assert util.check_nonnegative_integer(0, "x") is None
        assert util.check_bool_type(False, "x") is None
        assert [util.convert_bool_to_int(value) for value in (True, False, 1)] == [1, 0, -1]
        assert (util.format_string(None, "x"), util.format_string("a", "x")) == ("", "a")
        options = ["training_trace", "task_time"]
        expected = VECTORS["util/check_profiling_options/ok"]["result"]["returned"]
        assert expected == repr(util.check_profiling_options(options))
        assert util.check_aoe_mode("4") is None
        link = tmp_path / "link"
        link.symlink_to(tmp_path)
        assert os.path.realpath(str(tmp_path)) == util.check_path(str(link))

    def test_rank_size(self, monkeypatch):
        """The text of RANK_SIZE, of CM_WORKER_SIZE, or "1"."""
        pytest.importorskip("tensorflow")
        from npu_config.tf1 import util

        assert VECTORS["util/get_ranksize"]["result"]["returned"] == repr(util.get_ranksize())
        monkeypatch.setenv("CM_WORKER_SIZE", "4")
        assert util.get_ranksize() == "4"
        monkeypatch.setenv("RANK_SIZE", "8")
        with pytest.raises(ValueError, match="NPU852"):
            util.get_ranksize()

    def test_store(self, monkeypatch):
        """The store answers only after it was created, with a default for what is not in it."""
        pytest.importorskip("tensorflow")
        from npu_config.tf1 import util

        monkeypatch.setattr(util, "_STORES", [])
        with pytest.raises(NameError, match="global_dict_init"):
            util.set_value("a", 1)
        util.global_dict_init()
        util.set_value("a", 1)
        assert (
            util.get_value("a"),
            util.get_value("b", 2),
            util.get_value("b"),
        ) == (1, 2, None)

    def test_initialisation_on_the_host(self, tf):
        """The group has the name that makes the graph run on the host, in any scope."""
        from npu_config.tf1 import util

        variable = tf.get_variable("v", shape=[], use_resource=True)
        with tf.name_scope("outer"):
            group = util.variable_initializer_in_host([variable])
        assert group.name == "var_in_host"
        assert [variable.initializer] == list(group.control_inputs)

    def test_compile(self, tf):
        """Every fetch is run."""
        from npu_config.tf1 import util

        counter = tf.get_variable("n", shape=[], initializer=tf.zeros_initializer())
        with tf.Session() as session:
            session.run(counter.initializer)
            util.npu_compile(session, tf.assign_add(counter, 1.0), tf.assign_add(counter, 1.0))
            assert session.run(counter) == 2.0

    def test_unknown_names(self):
        """A misspelt name is no attribute; sharding of gradients is there and needs the vendor."""
        pytest.importorskip("tensorflow")
        from npu_config.tf1 import util

        assert not hasattr(util, "set_iterations_per_loop")
        with pytest.raises(RuntimeError, match=r"util\.fair_division"):
            util.fair_division([], 2)
