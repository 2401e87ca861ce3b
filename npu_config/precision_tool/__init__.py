"""A drop-in for the names of the vendor's precision_tool, and the export of tfdbg dumps.

``from npu_config.precision_tool import tf_config`` has the functions that scripts call;
``export`` turns what tfdbg wrote into ``.npy`` files with an index.  Importing either does
nothing.
"""
