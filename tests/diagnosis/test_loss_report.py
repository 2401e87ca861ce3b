"""The loss-scale report: what logs and summaries say, and what follows from it."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_config import NpuConfigError
from npu_config.diagnosis.loss_report import Decrease, Pattern, loss_scale_report
from tests import golden
from tests.proto import event_messages


def log(tmp_path, points, line="INFO:tensorflow:loss_scale = {scale}, step = {step} (3.2 sec)"):
    """A report of a log with one line per point."""
    path = tmp_path / "train.log"
    text = [line.format(step=step, scale=scale) for step, scale in points]
    path.write_text("\n".join(["starting", "init_loss_scale=4294967296", *text, "done"]))
    return loss_scale_report(path)


def halving(start, count, first=0, every=1):
    """A scale that is halved ``count`` times."""
    return [(first + index * every, start / 2.0**index) for index in range(count + 1)]


def test_a_scale_that_settles(tmp_path):
    """The search at the beginning is no fault; the level it found is the advice."""
    points = halving(65536.0, 5) + [(step, 2048.0) for step in range(6, 200)]
    report = log(tmp_path, points)
    assert (report.pattern, report.search, len(report.decreases)) == (Pattern.SETTLED, 5, 5)
    assert report.decreases[0] == Decrease(1, 65536.0, 32768.0)
    assert (report.first_step, report.last_step, report.collapsed_at) == (0, 199, None)
    (found,) = report.diagnostics
    assert found.severity.value == "info"
    assert "init_loss_scale=2048" in found.help


def test_a_scale_that_probes_its_limit(tmp_path):
    """Growth and overflow in turns is how a dynamic scale works; the rhythm is said."""
    points, scale = [], 1024.0
    for step in range(0, 1000, 10):
        if step and step % 100 == 0:
            scale = 2048.0
        elif step % 100 == 10:
            scale = 1024.0
        points.append((step, scale))
    report = log(tmp_path, points)
    assert (report.pattern, report.rhythm) == (Pattern.PROBING, 100.0)
    assert (report.increases, len(report.decreases)) == (9, 9)
    (found,) = report.diagnostics
    assert "one decrease every 100 steps" in found.message


def test_a_scale_that_keeps_falling(tmp_path):
    """More decreases than increases after the search: an operator overflows by itself."""
    points = [(step, 2.0 ** (16 - step // 50)) for step in range(0, 500, 10)]
    report = log(tmp_path, points)
    assert (report.pattern, report.rhythm) == (Pattern.FALLING, 50.0)
    (found,) = report.diagnostics
    assert found.severity.value == "warning"
    assert "overflow_detection" in found.help


def test_a_scale_that_collapses(tmp_path):
    """At 1 every step overflows; the advice names the documented checks."""
    points = halving(65536.0, 16, every=2) + [(step, 1.0) for step in range(34, 100, 2)]
    report = log(tmp_path, points)
    assert (report.pattern, report.collapsed_at) == (Pattern.COLLAPSED, 32)
    (found,) = report.diagnostics
    assert (found.rule, found.path) == ("NPU280", report.paths[0])
    for topic in ("overflow_detection", "is_distributed", "control_dependencies", "saturation"):
        assert topic in found.help


def test_one_decrease_at_the_end_is_no_fall(tmp_path):
    """A log that ends while the scale is looked for does not show that it keeps falling."""
    report = log(tmp_path, [(1, 8.0), (2, 4.0)])
    assert (report.pattern, report.diagnostics.warnings) == (Pattern.SETTLED, [])
    assert log(tmp_path, halving(65536.0, 3)).pattern is Pattern.FALLING


def test_what_the_steps_at_1_say(tmp_path):
    """That every step overflows is said only where the steps say so."""
    fall = ["step {}: loss_scale: {}".format(step, 2.0 ** (9 - step)) for step in range(10)]
    path = tmp_path / "train.log"
    said = {}
    for name, flag in {
        "silent": lambda step: "",
        "alternating": lambda step: " overflow = {}".format(step % 2 == 0),
        "always": lambda step: " overflow = True",
    }.items():
        path.write_text(
            "\n".join(
                [
                    *fall,
                    *(
                        "step {}: loss_scale: 1.0{}".format(step, flag(step))
                        for step in range(10, 110)
                    ),
                ]
            )
        )
        (found,) = loss_scale_report(path).diagnostics
        said[name] = found.message.partition("on: ")[2]
    assert said == {
        "silent": "steps overflow whatever the scale is, and their updates are skipped",
        "alternating": "of the later steps whose overflow state is known, 50 overflowed "
        "(their updates are skipped) and 50 did not",
        "always": "every step overflows and every update is skipped",
    }


def test_a_scale_that_alternates_at_its_floor(tmp_path):
    """It rises again and again, so not every step overflows; yet steps do without any scale."""
    points = [*halving(8.0, 3), *((step, 1.0 + step % 2) for step in range(4, 101))]
    report = log(tmp_path, points)
    assert (report.pattern, report.collapsed_at) == (Pattern.PROBING, None)
    warning = report.diagnostics.warnings
    assert [found.rule for found in warning] == ["NPU281"]
    assert "falls to 1 repeatedly (falls: 49" in warning[0].message


def test_a_scale_that_bounced_once_has_collapsed(tmp_path):
    """A long stay at 1 after a short one."""
    points = [*halving(4.0, 2), (3, 2.0), *((step, 1.0) for step in range(4, 50))]
    assert log(tmp_path, points).collapsed_at == 4


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("step 7 loss_scale = 8, loss = nan", "the loss is NaN in step 7"),
        ("INFO:tensorflow:total_loss: NaN, step = 7\nloss_scale 8", "the loss is NaN in step 7"),
        ("step 7 loss_scale 8\nNaN loss during training.", "the loss is NaN in step 7"),
        ("step 7 loss_scale 8\nModel diverged with loss = NaN.", "the loss is NaN in step 7"),
        (
            "step 7: loss_scale = 8 loss=nan\nstep 8: loss=nan",
            "the loss is NaN from step 7 on (NaN losses: 2)",
        ),
        ("loss_scale: 8, train/loss: nan", "the loss is NaN"),
    ],
)
def test_a_loss_that_is_nan(tmp_path, line, message):
    """A NaN loss in the same log is a finding of its own."""
    path = tmp_path / "train.log"
    path.write_text(line + "\n")
    report = loss_scale_report(path)
    assert [(found.rule, found.message) for found in report.diagnostics] == [("NPU283", message)]
    assert report.nan_losses == line.lower().count("nan")


@pytest.mark.parametrize(
    "line",
    [
        "step 7 loss_scale = 8, loss = 3.5",
        "step 7 loss_scale = 8, loss = 3.5, grad_norm = nan",
        "step 7 loss_scale = 8 check_nan_in_loss: True",
        "step 7 loss_scale = 8, no NaN loss so far",
        "step 7 loss_scale = 8\nstep 8 loss_scale = nan, loss = 2",
        "step 7 loss_scale = 8 banana loss 3",
    ],
)
def test_a_loss_that_is_not_nan(tmp_path, line):
    """Look-alikes."""
    path = tmp_path / "train.log"
    path.write_text(line + "\n")
    assert len(loss_scale_report(path).diagnostics) == 0


def test_a_nan_loss_in_a_summary_and_without_a_scale(tmp_path):
    """Summaries have it too; without a loss scale it is said beside that there is none."""
    path = tmp_path / "events.out.tfevents.1"
    losses = [(1, 3.0), (2, float("nan")), (3, float("nan"))]
    path.write_bytes(
        event_messages.scalars([(1, 8.0), (2, 8.0)], "loss_scale")
        + event_messages.scalars(losses, "train/total_loss")
    )
    (found,) = loss_scale_report(path).diagnostics
    assert found.message == "the loss is NaN from step 2 on (NaN losses: 2)"
    path.write_bytes(event_messages.scalars(losses, "loss"))
    with pytest.raises(NpuConfigError) as caught:
        loss_scale_report(path)
    assert [each.rule for each in caught.value.diagnostics] == ["NPU799", "NPU283"]


def test_a_scale_that_recovers_from_1_did_not_collapse(tmp_path):
    """Only a scale that ends at 1 has collapsed."""
    report = log(tmp_path, [*halving(4.0, 2), (10, 2.0), (20, 2.0)])
    assert report.collapsed_at is None


def test_a_fixed_scale_with_overflows(tmp_path):
    """A fixed scale cannot react; the steps that say they overflow are counted."""
    path = tmp_path / "train.log"
    lines = []
    for step in range(100):
        lines.append("step {}: loss_scale: 4096.0".format(step))
        lines.append("is_finite = {}".format(step % 10 != 3))
    path.write_text("\n".join(lines))
    report = loss_scale_report(path)
    assert (report.pattern, report.overflows, report.least_overflows) == (Pattern.FIXED, 10, 10)
    (found,) = report.diagnostics
    assert "10 steps overflow" in found.message


def test_a_fixed_scale_without_overflows_is_silent(tmp_path):
    """Nothing to say."""
    report = log(tmp_path, [(step, 1024.0) for step in range(10)])
    assert (report.pattern, report.overflows, len(report.diagnostics)) == (Pattern.FIXED, None, 0)


@pytest.mark.parametrize(
    "line",
    [
        "INFO:tensorflow:loss_scale = {scale}, step = {step} (3.2 sec)",
        "global_step {step} loss: 3.45 loss_scale:{scale}",
        "Step {step}/1000: lossScale={scale}",
        '{{"step": {step}, "loss_scale": {scale}}}',
        "loss_scale:0 = {scale}, global_step:0 = {step}",
        "[step: {step}] overflow detected, loss scale is reduced to {scale}",
        "iteration: {step} current loss scale [{scale}]",
        "step {step} took 3 sec\nThe loss scale is: {scale}",
        "2024-01-02 03:04:05.678 step={step} loss scale decreased from 99999 to {scale}",
        "step {step}: overflow! Skipping step. Attempted loss scale: 99999, reducing to {scale}",
        "step {step} loss scale 99999 -> {scale}",
        "step {step} setting loss scale to: {scale}",
        "step {step} >>> Current Loss Scale >>> {scale}",
        "step {step} lossScale==========================: {scale}",
        "step {step} loss_scale_is: {scale}",
        "Step: {step} / loss_scale = <tf.Tensor: shape=(), dtype=float32, numpy={scale}>",
        "Step: {step} / loss_scale = tf.Tensor({scale}, shape=(), dtype=float32)",
        "x.py --loss_scale=99999 --train_steps=99999\nglobal_step={step} loss_scale={scale}",
        "{{'_save_summary_steps': 100}}\nTotal steps: 9\nstep {step} loss_scale={scale}",
    ],
)
def test_the_ways_logs_say_it(tmp_path, line):
    """Scale and step are found however the line is worded."""
    report = log(tmp_path, [(5, 8.0), (6, 4.0), (7, 2.0)], line)
    assert (report.first_step, report.last_step, report.counted) == (5, 7, False)
    assert report.decreases == (Decrease(6, 8.0, 4.0), Decrease(7, 4.0, 2.0))


def test_overflow_lines_are_counted_once_per_step(tmp_path):
    """Two lines about one overflow are one overflow; "no overflow" is none."""
    path = tmp_path / "train.log"
    path.write_text(
        "step 1 loss_scale 8\noverflow detected\nskipping step\n"
        "step 2 loss_scale 4\nno overflow found\nenable_dump_debug: overflow collection is on\n"
    )
    assert loss_scale_report(path).overflows == 1


@pytest.mark.parametrize(
    ("line", "steps"),
    [
        ("step 3 overflow_status_reduce_all: False", [3]),
        ("step 3 overflow_status_reduce_all: True", []),
        ("step 3 apply/overflow_status_reduce_all:0 = False", [3]),
        ("step 3 overflow_status_reduce_all:0 = True", []),
        ("step 3 overflow_status_reduce_all is======: False", [3]),
        ("step 3 / not_overflow_status = False", [3]),
        ("step 3 / not_overflow_status = True", []),
        ("Step =      3 Loss scale = 1.0e+00 isFinite =      0", [3]),
        ("Step =      3 Loss scale = 1.0e+00 isFinite =      1", []),
        ("step 3, overflow cond: True", [3]),
        ("step 3, overflow cond: False", []),
        ("iteration 3/ 9 | number of skipped iterations:   1 |", [3]),
        ("iteration 3/ 9 | number of skipped iterations:   0 |", []),
        ("Grad overflow on iteration 3", [3]),
        ("step 3 Find overflow in this step, skip apply gradients", [3]),
        ("step 3 NPU overflow dump is enabled", []),
        ("step 3 no grad overflow for 500 iterations", []),
    ],
)
def test_the_ways_logs_tell_of_an_overflow(tmp_path, line, steps):
    """A flag counts as it is meant: the vendor's overflow_status_reduce_all is true without."""
    path = tmp_path / "train.log"
    path.write_text("step 1 loss_scale 8\n{}\nstep 9 loss_scale 8\n".format(line))
    assert len(steps) == (loss_scale_report(path).overflows or 0)


def test_a_summary_of_the_vendors_flag(tmp_path):
    """overflow_status_reduce_all is true without an overflow, in summaries, too."""
    path = tmp_path / "events.out.tfevents.1.host"
    flags = [(1, 1.0), (2, 0.0), (3, 1.0)]
    path.write_bytes(
        event_messages.scalars([(1, 8.0), (2, 8.0), (3, 4.0)], "loss_scale")
        + event_messages.scalars(flags, "overflow_status_reduce_all")
    )
    assert loss_scale_report(path).overflows == 1


def test_without_steps_values_are_counted(tmp_path):
    """A log that names no step still has a curve."""
    report = log(tmp_path, [(0, 8.0), (0, 4.0)], "loss scale: {scale}")
    assert (report.counted, report.samples, report.last_step) == (True, 2, 1)


def test_steps_that_start_anew_each_epoch_go_on(tmp_path):
    """The second epoch does not overwrite the first."""
    points = [(step, 8.0) for step in range(1, 11)] + [(step, 4.0) for step in range(1, 11)]
    report = log(tmp_path, points)
    assert (report.samples, report.last_step) == (20, 20)


def test_a_job_that_resumed_repeats_its_steps(tmp_path):
    """What the restart repeats is void: the steps stay those of the log."""
    before = [(step, 8.0) for step in range(0, 501, 100)]
    report = log(tmp_path, [*before, *((step, 4.0) for step in range(400, 701, 100))])
    assert (report.samples, report.last_step, report.last) == (8, 700, 4.0)


def test_summaries(tmp_path):
    """An event file gives the same report as a log; a directory is searched."""
    points = halving(65536.0, 5) + [(step, 2048.0) for step in range(6, 50)]
    folder = tmp_path / "run" / "train"
    folder.mkdir(parents=True)
    path = folder / "events.out.tfevents.1600000000.host"
    path.write_bytes(event_messages.scalars(points, "opt/loss_scale"))
    for source in (path, tmp_path):
        report = loss_scale_report(source)
        assert report.paths == (str(path),)
        assert (report.pattern, report.search, report.samples) == (Pattern.SETTLED, 5, 50)


def test_the_tag_can_be_named(tmp_path):
    """Another summary can hold the scale; a tag that is not there is said."""
    path = tmp_path / "events.out.tfevents.1"
    path.write_bytes(event_messages.scalars([(1, 8.0), (2, 4.0)], "amp"))
    assert loss_scale_report(path, tag="amp").last == 4.0
    with pytest.raises(NpuConfigError, match='no value of "other"'):
        loss_scale_report(path, tag="other")


def test_a_restart_voids_the_steps_it_repeats(tmp_path):
    """Steps after the checkpoint that was restored are taken from the later run."""
    path = tmp_path / "events.out.tfevents.1"
    points = [(1, 8.0), (2, 4.0), (3, 2.0), (2, 8.0), (3, 8.0), (4, 8.0)]
    path.write_bytes(event_messages.scalars(points))
    report = loss_scale_report(path)
    assert (report.samples, report.decreases) == (4, ())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"epoch 1\nloss 3.2\n", "the input has no loss scale"),
        (b"\x7fELF\x02\x01\x01\x00\x00\x00", "neither a text log nor"),
    ],
)
def test_bad_input_is_one_diagnostic(tmp_path, content, message):
    """Empty, without a scale, not a log: one finding with the way out."""
    path = tmp_path / "train.log"
    path.write_bytes(content)
    with pytest.raises(NpuConfigError) as caught:
        loss_scale_report(path)
    (found,) = caught.value.diagnostics
    assert message in found.message
    assert (found.rule, found.path) == ("NPU799", str(path))


def test_missing_and_empty_places(tmp_path):
    """A file that is not there, and a directory without summaries."""
    with pytest.raises(NpuConfigError, match="No such file"):
        loss_scale_report(tmp_path / "none.log")
    with pytest.raises(NpuConfigError, match=r"no events\.out\.tfevents"):
        loss_scale_report(tmp_path)


def test_a_damaged_summary_is_said(tmp_path):
    """An event file that is damaged is a finding."""
    path = tmp_path / "events.out.tfevents.1"
    data = bytearray(event_messages.scalars([(1, 8.0), (2, 4.0)]))
    data[0] ^= 0x7F
    path.write_bytes(data)
    with pytest.raises(NpuConfigError, match="not a TensorFlow event file"):
        loss_scale_report(path)


@settings(max_examples=golden.tries(80), deadline=None)
@given(
    st.one_of(
        st.binary(max_size=200),
        st.lists(
            st.sampled_from(["loss_scale", "=", ":", " ", "step", "8", ".", "e9", "to", "\n", "["])
        ).map("".join),
    )
)
def test_arbitrary_content_gives_a_report_or_diagnostics(tmp_path_factory, data):
    """Nothing else is ever raised."""
    path = tmp_path_factory.getbasetemp() / "train.log"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    with contextlib.suppress(NpuConfigError):
        loss_scale_report(path)
