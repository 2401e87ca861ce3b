"""What a run of a session is for: which runs train, compute, or do neither."""

import pytest

from npu_config.tf1 import collectives
from npu_config.tf1.purpose import COMPUTES, OTHER, TRAINS, operations_of, purpose

tf = pytest.importorskip("tensorflow").compat.v1
pytestmark = pytest.mark.tensorflow


@pytest.fixture(autouse=True)
def control_flow_v1():
    """Branches as TensorFlow 1.15 builds them, in either version."""
    tf.disable_control_flow_v2()


@pytest.fixture(params=[False, True], ids=["reference", "resource"])
def weight(request):
    """A trainable variable in a graph of its own."""
    with tf.Graph().as_default():
        yield tf.get_variable("w", shape=[2, 2], use_resource=request.param)


def of(*fetches):
    """The purpose of a run."""
    return purpose([getattr(each, "op", each) for each in fetches])


def test_an_optimizer_trains(weight):
    """So does a fetch that only needs its operation."""
    train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(weight**2))
    with tf.control_dependencies([train]):
        after = tf.constant(1.0)
    assert [of(train), of(after)] == [TRAINS, TRAINS]


def test_weights_assigned_by_hand_train(weight):
    """An optimizer in Python assigns to the weights what it makes from them."""
    (gradient,) = tf.gradients(tf.reduce_sum(weight**2), [weight])
    assert of(weight.assign(weight - 0.1 * gradient)) == TRAINS
    assert of(tf.assign_sub(weight, 0.1 * gradient)) == TRAINS


def test_weights_assigned_in_a_branch_train(weight):
    """A step that loss scaling may skip is a training step."""
    (gradient,) = tf.gradients(tf.reduce_sum(weight**2), [weight])
    finite = tf.reduce_all(tf.is_finite(gradient))
    applied = tf.cond(
        finite, lambda: tf.group(weight.assign(weight - 0.1 * gradient)), lambda: tf.no_op()
    )
    assert of(applied) == TRAINS


def test_weights_changed_in_a_function_train():
    """An operation in the body of a branch of control flow v2 counts."""
    tf.enable_control_flow_v2()
    with tf.Graph().as_default():
        weight = tf.get_variable("w", shape=[2, 2], use_resource=True)
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        gradients = optimizer.compute_gradients(tf.reduce_sum(weight**2))
        applied = tf.cond(
            tf.reduce_sum(weight) > 0,
            lambda: tf.group(optimizer.apply_gradients(gradients)),
            lambda: tf.no_op(),
        )
        assert of(applied) == TRAINS


def test_initialisation_does_not_train(weight):
    """Also where the initial value is made from another variable."""
    copy = tf.Variable(tf.reduce_sum(weight.initial_value) * 2, name="copy")
    assert of(tf.variables_initializer([weight, copy])) == OTHER
    assert of(copy.initializer) == OTHER


def test_a_broadcast_of_the_weights_does_not_train(weight):
    """Initialisation before it is no update; the broadcast of an updated value is one."""
    other = tf.get_variable("other", shape=[2])

    def assigned(*values):
        received = collectives.broadcast(values, 0, [0, 1])
        return tf.group(*[tf.assign(*pair) for pair in zip([weight, other], received)])

    with tf.control_dependencies([tf.global_variables_initializer()]), tf.name_scope("all"):
        after = assigned(weight, other)
    assert [of(assigned(weight, other)), of(assigned(weight)), of(after)] == [OTHER] * 3
    (gradient,) = tf.gradients(tf.reduce_sum(weight**2), [weight])
    assert of(assigned(weight - 0.1 * gradient, other)) == TRAINS
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(weight**2))
    with tf.control_dependencies([train]):
        assert of(assigned(weight, other)) == TRAINS


def test_queues_are_fed_beside_the_training(weight):
    """A thread that fills or closes a queue neither trains nor computes; one that takes does."""
    queue = tf.FIFOQueue(4, tf.float32, shapes=[[2, 2]])
    fill = queue.enqueue([tf.matmul(weight, weight)])
    assert [of(fill), of(queue.close()), of(queue.size())] == [OTHER, OTHER, OTHER]
    assert of(tf.reduce_sum(queue.dequeue())) == COMPUTES
    assert of(tf.assign_sub(weight, queue.dequeue())) == TRAINS


def test_a_count_is_no_training(weight):
    """The global step and other variables that are not trained do not count."""
    step = tf.train.get_or_create_global_step()
    assert of(tf.assign_add(step, 1), tf.matmul(weight, weight)) == COMPUTES
    assert of(weight) == OTHER


def test_replicas_are_not_asked():
    """Variables of MirroredStrategy answer without another operation: their graph is finalized."""
    with tf.Graph().as_default() as graph:
        strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
        with strategy.scope():
            mirrored = tf.get_variable("m", shape=[2, 2])
        (part,) = operations_of(mirrored)
        applied = tf.raw_ops.AssignSubVariableOp(resource=part.outputs[0], value=tf.ones([2, 2]))
        graph.finalize()
        assert [of(applied), operations_of(mirrored)] == [TRAINS, [part]]
