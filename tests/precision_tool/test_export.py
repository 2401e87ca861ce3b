"""The export of tfdbg dumps: stable names, the index, the same tensors as tfdbg reads."""

import csv
import struct

import pytest

from npu_config import NpuConfigError
from npu_config.precision_tool import tf_config
from npu_config.precision_tool.export import export_tfdbg
from tests.proto import event_messages as made

DEVICE = "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0"


def dump(root, name, tensor, run="run_1600000000000000_0", time=1600000000000001):
    """Write one file as tfdbg does."""
    path = root / run / DEVICE / "{}_DebugIdentity_{}".format(name, time)
    path.parent.mkdir(parents=True, exist_ok=True)
    value = b"" if tensor is None else made.field(8, tensor)
    path.write_bytes(made.event(0, [made.field(1, b"tag") + value]))
    return path


def floats(*numbers):
    """A vector of float32."""
    return made.tensor(1, (len(numbers),), struct.pack("<{}f".format(len(numbers)), *numbers))


def npy(path):
    """(type, shape, content) of a .npy file, by the format's definition."""
    data = path.read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00"
    length = struct.unpack("<H", data[8:10])[0]
    assert (10 + length) % 64 == 0
    header = eval(data[10 : 10 + length], {"__builtins__": {}})
    assert header["fortran_order"] is False
    return header["descr"], header["shape"], data[10 + length :]


def test_names_do_not_depend_on_time(tmp_path):
    """Nodes, outputs, executions and runs are numbered; slashes and clashes are resolved."""
    for run, base in (("run_1600000000000000_0", 5), ("run_1600000009000000_1", 900)):
        dump(tmp_path / "d", "a/b_0", floats(1.0), run, base + 2)
        dump(tmp_path / "d", "a/b_0", floats(2.0), run, base + 7)
        dump(tmp_path / "d", "a/b_1", floats(3.0), run, base + 7)
        dump(tmp_path / "d", "a_b_0", floats(4.0), run, base)
    lines = export_tfdbg(tmp_path / "d", tmp_path / "out")
    names = ["a_b.0.0.npy", "a_b.0.1.npy", "a_b.1.0.npy", "a_b~2.0.0.npy"]
    assert [line.file for line in lines] == [
        "run_{}/{}".format(run, name) for run in (0, 1) for name in names
    ]
    assert [(line.node, line.output, line.occurrence) for line in lines[:4]] == [
        ("a/b", 0, 0),
        ("a/b", 0, 1),
        ("a/b", 1, 0),
        ("a_b", 0, 0),
    ]
    assert npy(tmp_path / "out/run_1/a_b.0.1.npy") == ("<f4", (1,), struct.pack("<f", 2.0))


def test_the_index_has_a_line_for_every_file(tmp_path):
    """Also for what could not become a .npy file, with the reason."""
    dump(tmp_path / "d", "ok_0", floats(1.0, 2.0))
    dump(tmp_path / "d", "gone_0", None)
    dump(tmp_path / "d", "empty_0", made.tensor(1, (2,), b""))
    dump(tmp_path / "d", "handle_0", made.tensor(20, (), b"x"))
    zero = made.tensor(7, (1,), b"") + made.field(8, b"a\x00")
    dump(tmp_path / "d", "zero_0", zero)
    lines = export_tfdbg(tmp_path / "d", tmp_path / "out")
    with open(str(tmp_path / "out/index.csv"), newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["node"]: (row["file"], row["status"]) for row in rows} == {
        "ok": ("run_0/ok.0.0.npy", "ok"),
        "gone": ("", "not initialised"),
        "empty": ("", "not initialised"),
        "handle": ("", "no tensor of numbers or text"),
        "zero": ("", "text that ends in a zero byte cannot be stored in a .npy file"),
    }
    ok = next(row for row in rows if row["node"] == "ok")
    assert (ok["dtype"], ok["shape"], ok["device"], ok["time_us"]) == (
        "float32",
        "2",
        "/job_localhost/replica_0/task_0/device_CPU_0",
        "1600000000000001",
    )
    assert len(lines) == len(rows)


def test_text_and_bfloat16(tmp_path):
    """Text of different lengths, and the type that numpy does not have, widened."""
    text = made.tensor(7, (3,), b"") + made.field(8, b"ab") + made.field(8, b"c")
    dump(tmp_path / "d", "text_0", text)
    dump(tmp_path / "d", "b_0", made.tensor(14, (), b"\x80\x3f"))
    export_tfdbg(tmp_path / "d", tmp_path / "out")
    assert npy(tmp_path / "out/run_0/text.0.0.npy") == ("|S2", (3,), b"abc\x00c\x00")
    assert npy(tmp_path / "out/run_0/b.0.0.npy") == ("<f4", (), struct.pack("<f", 1.0))


def test_a_large_tensor_and_a_long_name(tmp_path):
    """More than a megabyte; a node name longer than a file name may be."""
    content = bytes(range(256)) * 8192
    dump(tmp_path / "d", "large_0", made.tensor(4, (8192, 256), content))
    deep = "/".join(["scope" * 10] * 8)
    dump(tmp_path / "d", deep + "/x_0", floats(1.0))
    lines = export_tfdbg(tmp_path / "d", tmp_path / "out")
    assert npy(tmp_path / "out/run_0/large.0.0.npy") == ("|u1", (8192, 256), content)
    (long_name,) = [line.file for line in lines if line.node.startswith("scope")]
    assert len(long_name) < 220
    assert (tmp_path / "out" / long_name).exists()


def test_one_run_directory_can_be_given(tmp_path):
    """Instead of the directory with all runs."""
    dump(tmp_path / "d", "a_0", floats(1.0), "run_1600000009000000_1")
    lines = export_tfdbg(tmp_path / "d/run_1600000009000000_1", tmp_path / "out")
    assert [line.file for line in lines] == ["run_0/a.0.0.npy"]


def test_runs_of_two_processes(tmp_path):
    """Two runs of one number: the first is exported, the second is named."""
    dump(tmp_path / "d", "a_0", floats(1.0), "run_1_5")
    dump(tmp_path / "d", "a_0", floats(2.0), "run_2_5")
    dump(tmp_path / "d", "a_0", floats(3.0), "run_3_6")
    with pytest.raises(NpuConfigError) as caught:
        export_tfdbg(tmp_path / "d", tmp_path / "out")
    (found,) = caught.value.diagnostics
    assert (found.path, "run_1_5" in found.message) == (str(tmp_path / "d" / "run_2_5"), True)
    assert npy(tmp_path / "out/run_5/a.0.0.npy")[2] == struct.pack("<f", 1.0)
    assert npy(tmp_path / "out/run_6/a.0.0.npy")[2] == struct.pack("<f", 3.0)


@pytest.mark.parametrize("dtype", [1, 7])
def test_a_small_file_makes_no_large_one(tmp_path, dtype):
    """A few bytes with the shape [2^28] are damage, and no file of a gigabyte."""
    content = made.field(5, struct.pack("<f", 1.0)) if dtype == 1 else made.field(8, b"abc")
    shape = made.field(2, made.field(2, b"\x08" + made.varint(1 << 28)))
    dump(tmp_path / "d", "a_0", b"\x08" + made.varint(dtype) + shape + content)
    with pytest.raises(NpuConfigError, match=r"268,435,456|1,073,741,824|805,306,368"):
        export_tfdbg(tmp_path / "d", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").rglob("*.npy")] == []


def test_nothing_is_overwritten(tmp_path):
    """The output directory must be empty."""
    dump(tmp_path / "d", "a_0", floats(1.0))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("x")
    with pytest.raises(FileExistsError):
        export_tfdbg(tmp_path / "d", tmp_path / "out")
    assert (tmp_path / "out" / "mine").read_text() == "x"


def test_damaged_files_are_named_and_the_others_exported(tmp_path):
    """One diagnostic for each."""
    dump(tmp_path / "d", "a_0", floats(1.0))
    cut = dump(tmp_path / "d", "b_0", floats(1.0, 2.0))
    cut.write_bytes(cut.read_bytes()[:-3])
    dump(tmp_path / "d", "c_0", made.tensor(1, (5,), b"abcd"))
    with pytest.raises(NpuConfigError) as caught:
        export_tfdbg(tmp_path / "d", tmp_path / "out")
    assert len(caught.value.diagnostics) == 2
    assert str(cut) in {found.path for found in caught.value.diagnostics}
    assert (tmp_path / "out/run_0/a.0.0.npy").exists()
    assert (tmp_path / "out/index.csv").exists()


@pytest.mark.parametrize("name", ["missing", "empty", "file"])
def test_what_is_no_dump_is_one_diagnostic(tmp_path, name):
    """A directory without runs, no directory, a file."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    with pytest.raises(NpuConfigError, match="no dump of tfdbg here"):
        export_tfdbg(tmp_path / name, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.tensorflow
def test_the_same_tensors_as_tfdbgs_own_reader(tmp_path, monkeypatch):
    """A session of two runs through sess_dump, of all kinds of tensors."""
    tf = pytest.importorskip("tensorflow").compat.v1
    numpy = pytest.importorskip("numpy")
    from tensorflow.python.debug.lib import debug_data

    monkeypatch.chdir(tmp_path)
    for name in tf_config.graph_dump_environment():
        monkeypatch.setenv(name, "")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        w = tf.get_variable("net/w", initializer=numpy.ones([4, 3], "f4"), use_resource=False)
        h = tf.cast(tf.matmul(x, w, name="net/mm"), tf.float16, name="net/h")
        late = tf.get_variable("late", initializer=1.0, use_resource=False)
        fetches = [
            h,
            tf.identity(tf.constant(["a", "bcd", ""])),
            tf.cast(tf.cast(h, tf.bfloat16), tf.float32),
            tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)]),
            tf.identity(tf.zeros([0, 3])),
            tf.complex(tf.identity(1.0), 2.0),
            tf.assign(late, 5.0).op,
            tf.reduce_any(h > 0),
            tf.identity(tf.constant(7, tf.uint8)),
            tf.identity(tf.constant([[1, -2], [3, 4]], tf.int64)),
        ]
        session.run(w.initializer)
        wrapped = tf_config.sess_dump(session)
        for _ in range(2):
            wrapped.run(fetches, {x: numpy.random.rand(2, 4)})
    root = tmp_path / "precision_data/tf/tf_debug"
    lines = export_tfdbg(root, tmp_path / "out")
    runs = sorted(root.iterdir(), key=lambda path: int(path.name.rsplit("_", 1)[1]))
    compared = 0
    for number, run in enumerate(runs):
        ours = {
            (line.node, line.output, line.time_us): line for line in lines if line.run == number
        }
        theirs = debug_data.DebugDumpDir(str(run), validate=False).dumped_tensor_data
        assert len(ours) == len(theirs)
        for datum in theirs:
            line = ours[(datum.node_name, datum.output_slot, datum.timestamp)]
            tensor = datum.get_tensor()
            if isinstance(tensor, debug_data.InconvertibleTensorProto):
                assert line.status != "ok"
                continue
            loaded = numpy.load(str(tmp_path / "out" / line.file))
            if tensor.dtype == object:
                tensor = tensor.astype(loaded.dtype)
            if line.dtype == "bfloat16":
                tensor = tensor.astype("f4")
            assert (loaded.dtype, loaded.shape) == (tensor.dtype, tensor.shape)
            assert loaded.tobytes() == tensor.tobytes()
            compared += 1
    assert len(runs) == 2
    assert compared > 80


@pytest.mark.tensorflow
def test_the_hook_of_an_estimator_and_a_used_directory(tmp_path, monkeypatch):
    """The hook dumps into the same place; a place in use is refused."""
    tf = pytest.importorskip("tensorflow").compat.v1
    monkeypatch.chdir(tmp_path)
    for name in tf_config.graph_dump_environment():
        monkeypatch.setenv(name, "")
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        work = tf.assign_add(step, 1)
        hook = tf_config.estimator_dump()
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run(work)
    lines = export_tfdbg("precision_data/tf/tf_debug", "out")
    assert "ok" in {line.status for line in lines}
    with pytest.raises(NpuConfigError, match="needs an empty directory"):
        tf_config.estimator_dump()
    assert tf_config.estimator_dump(directory="precision_data/tf/second") is not None
