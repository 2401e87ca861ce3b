import tensorflow as tf


def main(_):
    print(tf.__version__[:2])


if __name__ == "__main__":
    try:
        tf.app.run()
    except SystemExit:
        pass
