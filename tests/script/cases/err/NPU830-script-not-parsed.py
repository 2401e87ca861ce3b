import tensorflow as tf
config = NPURunConfig()
print "done"
