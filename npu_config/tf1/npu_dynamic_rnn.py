"""``npu_dynamic_rnn``: the recurrent layers of the device, with ordinary operations.

The layouts of weights, the order of gates, the names and the order of variables are those of
the device, so that checkpoints fit; the arithmetic is in the type of the variables.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple

from npu_config.tf1 import vendor
from npu_config.tf1._lazy import errors, rules
from npu_config.tf1.tensorflow import tf
from npu_config.tf1.vendor import own_operators

if TYPE_CHECKING:

    class Layer:
        """tf.layers.Layer, as far as it is used here; for type checking only."""

        dtype: Any
        built: bool

        def __init__(self, **kwargs: Any) -> None: ...

        def add_weight(self, name: str, **kwargs: Any) -> Any:
            """Make a variable of the layer."""

        def build(self, input_shape: Any) -> None:
            """Make the variables of the layer."""

else:
    Layer = tf.layers.Layer

DYNAMIC_RNN_UNIDIRECTION = "UNIDIRECTIONAL"
DYNAMIC_RNN_BIDIRECTION = "BIDIRECTIONAL"
DYNAMIC_RNN_REDIRECTIONAL = "REDIRECTIONAL"

_BATCH = 16  # of the lengths, where the batch size is not known
_REQUIRED = {
    "cell_type": ("LSTM",),
    "cell_depth": (1,),
    "use_peephole": (False,),
    "keep_prob": (1.0,),
    "cell_clip": (-1.0,),
    "num_proj": (0,),
    "time_major": (True,),
    "activation": ("tanh",),
    "gate_order": ("zrh", "rzh"),
    "reset_after": (True,),
}
"""The values that the device's compiler takes."""

State = Tuple[Any, ...]
Step = Callable[[State, State], State]


class _Recurrent(Layer):
    """What the layers share: the arguments, the lengths, the walk over time."""

    _directions: Tuple[str, ...] = (DYNAMIC_RNN_UNIDIRECTION,)

    def __init__(self, hidden_size: int, dtype: Any, given: Dict[str, Any]) -> None:
        faults = [
            _fault(self, name, given[name], legal)
            for name, legal in {**_REQUIRED, "direction": self._directions}.items()
            if name in given and given[name] not in legal
        ]
        if faults:
            raise errors.NpuConfigError(faults)
        super().__init__(dtype=dtype)
        self.hidden_size = hidden_size
        self.direction = given["direction"]
        self.is_training = given["is_training"]

    def _lengths(self, shape: Any) -> None:
        """The variable of lengths, every one that of the whole sequence."""
        time, batch = (each if each is not None else 0 for each in shape[:2])
        self._seq_length = self.add_weight(
            "dynamicbase/seq_length",
            shape=[batch or _BATCH],
            dtype=tf.int32,
            initializer=tf.constant_initializer(time or 1),
            trainable=False,
        )
        self.built = True

    def _input_size(self, shape: Any) -> int:
        size = shape[2] if len(shape) == 3 else None
        if size is None:
            raise rules.recurrent_layer_argument.error(
                "the input of {} must be [time, batch, size] with a known size, got {}".format(
                    type(self).__name__, shape
                )
            )
        return int(size)


def _fault(layer: Any, name: str, value: Any, legal: Sequence[Any]) -> Any:
    return rules.recurrent_layer_argument.diagnostic(
        "{} of {} must be {}, got {!r}; the compiler of the device rejects other values".format(
            name, type(layer).__name__, " or ".join(map(repr, legal)), value
        )
    )


def _shape(input_shape: Any) -> List[Optional[int]]:
    return list(tf.TensorShape(input_shape).as_list())


def _walk(step: Step, elements: State, start: State, backwards: bool = False) -> State:
    """The outputs of a step over the first axis, each at the place of its input."""
    with own_operators():
        walked: State = tf.scan(step, elements, initializer=start, reverse=backwards)
    return walked


def _zeros(x: Any, size: int, count: int) -> List[Any]:
    return [tf.zeros([tf.shape(x)[1], size], x.dtype) for _ in range(count)]


def _active(x: Any, lengths: Any) -> Any:
    """Column of truth for each time: which sequences have not ended."""
    times = tf.range(tf.shape(x)[0])[:, None, None]
    if lengths is None:
        return tf.broadcast_to(times >= 0, [tf.shape(x)[0], tf.shape(x)[1], 1])
    return times < tf.cast(lengths, tf.int32)[None, :, None]


def _choose(active: Any, first: Any, second: Any) -> Any:
    return tf.where_v2(active, first, second)


class _DynamicRNN(_Recurrent):
    """LSTM over [time, batch, size]; calling it gives y, h, c, i, j, f, o and tanh(c).

    The kernel is that of ``tf.nn.rnn_cell.BasicLSTMCell``: rows of the input, then of the state;
    columns of the input gate, the candidate, the forget gate, the output gate.

    Args:
        hidden_size: size of the state.
        dtype: type of the variables and of the input.
        cell_type: "LSTM".
        direction: "UNIDIRECTIONAL", or "BIDIRECTIONAL", with a leading axis of 2 everywhere.
        forget_bias: is added to the forget gate.
        is_training: without effect here.

    The other arguments can have their defaults only.

    Raises:
        NpuConfigError: the compiler of the device would refuse an argument.
    """

    _directions = (DYNAMIC_RNN_UNIDIRECTION, DYNAMIC_RNN_BIDIRECTION)

    def __init__(
        self,
        hidden_size: int,
        dtype: Any,
        cell_type: str = "LSTM",
        direction: str = DYNAMIC_RNN_UNIDIRECTION,
        cell_depth: int = 1,
        use_peephole: bool = False,
        keep_prob: float = 1.0,
        cell_clip: float = -1.0,
        num_proj: int = 0,
        time_major: bool = True,
        activation: str = "tanh",
        forget_bias: float = 0.0,
        is_training: bool = True,
    ) -> None:
        super().__init__(hidden_size, dtype, locals())
        self.cell_type = cell_type
        self.use_peephole = use_peephole
        self.forget_bias = forget_bias

    def build(self, input_shape: Any) -> None:
        """Make w, b and the lengths."""
        shape = _shape(input_shape)
        leading = [2] if self.direction == DYNAMIC_RNN_BIDIRECTION else []
        self._w = self.add_weight(
            "dynamicrnn/w",
            shape=[*leading, self._input_size(shape) + self.hidden_size, 4 * self.hidden_size],
            initializer=tf.glorot_uniform_initializer(seed=10),
        )
        self._b = self.add_weight(
            "dynamicrnn/b",
            shape=[*leading, 4 * self.hidden_size],
            initializer=tf.zeros_initializer(),
        )
        self._lengths(shape)

    def call(
        self,
        x: Any,
        seq_length: Any = None,
        init_h: Any = None,
        init_c: Any = None,
        weight: Any = None,
        bias: Any = None,
    ) -> List[Any]:
        """The eight outputs, each [time, batch, hidden].

        Args:
            x: [time, batch, size].
            seq_length: lengths, int32 [batch]; past its length y is 0 and the state stays.
            init_h: first state, [1, batch, hidden], or 2 for both directions.
            init_c: first cell state, as ``init_h``.
            weight: in place of w.
            bias: in place of b.
        """
        w = self._w if weight is None else weight
        b = self._b if bias is None else bias
        if self.direction == DYNAMIC_RNN_UNIDIRECTION:
            h, c = (None if each is None else each[0] for each in (init_h, init_c))
            return list(self._one_way(x, seq_length, h, c, w, b, False))
        ways = []
        for way in (0, 1):
            h, c = (None if each is None else each[way] for each in (init_h, init_c))
            ways.append(self._one_way(x, seq_length, h, c, w[way], b[way], way == 1))
        return [tf.stack(pair) for pair in zip(*ways)]

    def _one_way(
        self, x: Any, lengths: Any, h: Any, c: Any, w: Any, b: Any, backwards: bool
    ) -> State:
        def step(state: State, now: State) -> State:
            _, h, c = state[:3]
            gates = tf.matmul(tf.concat([now[0], h], axis=1), w) + b
            i, j, f, o = tf.split(gates, 4, axis=1)
            i, j, o = tf.sigmoid(i), tf.tanh(j), tf.sigmoid(o)
            f = tf.sigmoid(f + tf.cast(self.forget_bias, f.dtype))
            new_c = f * c + i * j
            tanhc = tf.tanh(new_c)
            new_h = o * tanhc
            y = _choose(now[1], new_h, tf.zeros_like(new_h))
            return (y, _choose(now[1], new_h, h), _choose(now[1], new_c, c), i, j, f, o, tanhc)

        start = _zeros(x, self.hidden_size, 8)
        start[1:3] = [zero if s is None else s for s, zero in zip((h, c), start[1:3])]
        return _walk(step, (x, _active(x, lengths)), tuple(start), backwards)


class _Gated(_Recurrent):
    """What the two layers of gated recurrent units share."""

    _prefix = ""

    def __init__(
        self,
        hidden_size: int,
        dtype: Any,
        direction: str = DYNAMIC_RNN_UNIDIRECTION,
        cell_depth: int = 1,
        keep_prob: float = 1.0,
        cell_clip: float = -1.0,
        num_proj: int = 0,
        time_major: bool = True,
        activation: str = "tanh",
        gate_order: str = "zrh",
        reset_after: bool = True,
        is_training: bool = True,
    ) -> None:
        super().__init__(hidden_size, dtype, locals())
        self.gate_order = gate_order
        self.reset_after = reset_after

    def build(self, input_shape: Any) -> None:
        """Make the weights, the biases and the lengths."""
        shape = _shape(input_shape)
        size, columns = self._input_size(shape), 3 * self.hidden_size
        bound = 1 / math.sqrt(self.hidden_size)
        shapes = {
            "weight_input": [size, columns],
            "weight_hidden": [self.hidden_size, columns],
            "bias_input": [columns],
            "bias_hidden": [columns],
        }
        self._weights = [
            self.add_weight(
                "{}/{}".format(self._prefix, name),
                shape=each,
                initializer=tf.random_uniform_initializer(-bound, bound),
            )
            for name, each in shapes.items()
        ]
        self._lengths(shape)

    def _run(self, x: Any, attention: Any, lengths: Any, init_h: Any) -> State:
        """y, h, update, update with attention, reset, new, hidden_new."""
        weight_input, weight_hidden, bias_input, bias_hidden = self._weights

        def step(state: State, now: State) -> State:
            h = state[1]
            of_input = tf.split(tf.matmul(now[0], weight_input) + bias_input, 3, axis=1)
            of_state = tf.split(tf.matmul(h, weight_hidden) + bias_hidden, 3, axis=1)
            first, second = (tf.sigmoid(of_input[k] + of_state[k]) for k in (0, 1))
            update, reset = (first, second) if self.gate_order == "zrh" else (second, first)
            hidden_new = of_state[2]
            new = tf.tanh(of_input[2] + reset * hidden_new)
            weighted = update if attention is None else (1 - now[2][:, None]) * update
            new_h = _choose(now[1], weighted * h + (1 - weighted) * new, h)
            return (new_h, new_h, update, weighted, reset, new, hidden_new)

        start = _zeros(x, self.hidden_size, 7)
        if init_h is not None:
            start[1] = init_h
        extra = () if attention is None else (attention,)
        return _walk(step, (x, _active(x, lengths), *extra), tuple(start))


class _DynamicGRUV2(_Gated):
    """GRU over [time, batch, size]; gives y, h, update, reset, new and hidden_new.

    It is the GRU of Keras with ``reset_after=True``.

    Args:
        hidden_size: size of the state.
        dtype: type of the variables and of the input.
        gate_order: order of the columns: "zrh" (update, reset, new) or "rzh".
        is_training: without effect here.

    The other arguments can have their defaults only.

    Raises:
        NpuConfigError: the compiler of the device would refuse an argument.
    """

    _prefix = "dynamicgruv2"

    def call(self, x: Any, seq_length: Any = None, init_h: Any = None) -> List[Any]:
        """The six outputs, each [time, batch, hidden].

        Args:
            x: [time, batch, size].
            seq_length: lengths, int32 [batch]; past its length y and h stay.
            init_h: first state, [batch, hidden].
        """
        made = self._run(x, None, seq_length, init_h)
        return [*made[:3], *made[4:]]


class _DynamicAUGRU(_Gated):
    """GRU whose update gate is weighted by attention; arguments as DynamicGRUV2.

    Gives y, h, update, update with attention, reset, new and hidden_new.
    """

    _prefix = "dynamicaugru"

    def call(
        self, x: Any, weight_att: Any, seq_length: Any = None, init_h: Any = None
    ) -> List[Any]:
        """The seven outputs, each [time, batch, hidden].

        Args:
            x: [time, batch, size].
            weight_att: attention, [time, batch]; the update gate is multiplied by 1 minus it.
            seq_length: lengths, int32 [batch]; past its length y and h stay.
            init_h: first state, [batch, hidden].
        """
        return list(self._run(x, weight_att, seq_length, init_h))


_OURS = {"DynamicRNN": _DynamicRNN, "DynamicGRUV2": _DynamicGRUV2, "DynamicAUGRU": _DynamicAUGRU}
for _name, _class in _OURS.items():
    _class.__name__ = _class.__qualname__ = _name  # names of scopes come from it


def __getattr__(name: str) -> Any:
    """The layers: the vendor's where its package can be imported."""
    if name in _OURS:
        return vendor.find("npu_dynamic_rnn", name) or _OURS[name]
    raise AttributeError("module {!r} has no attribute {!r}".format(__name__, name))
