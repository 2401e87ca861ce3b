from npu_config.npu_init import *
import sys
from tensorflow import *
from tensorflow.keras.layers import *
from tensorflow.keras.models import *
from tensorflow.keras.callbacks import *
from math import *

model = Sequential([Dense(1, use_bias=False, kernel_initializer="zeros", input_shape=(1,)), Dropout(0.0)])
model.compile("sgd", "mse")
model.fit(constant([[1.0]]), constant([[0.0]]), steps_per_epoch=1, verbose=0, callbacks=[TerminateOnNaN()])
with Session(config=npu_config_proto()) as sess:
    sys.stdout.write("%s %d\n" % (sess.run(npu_ops.dropout(ones([2]), 1.0)).tolist(), floor(2.5)))
