"""The messages a graph is stored in, as TensorFlow 1.15.5 declares them.

Everything that can be reached from ``GraphDef`` (``NodeDef``, ``OpDef``, ``FunctionDef`` ...)
beyond what a session is configured with, and the place of a graph in a ``MetaGraphDef``, whose
other fields are passed over.  Built only when a graph is read; see
:mod:`npu_config.proto.session_messages`.
"""

GRAPH = """
// tensorflow/core/framework/node_def.proto
message NodeDef {
  message ExperimentalDebugInfo {
    repeated string original_node_names = 1;
    repeated string original_func_names = 2;
  }
  string name = 1;
  string op = 2;
  repeated string input = 3;
  string device = 4;
  map<string, AttrValue> attr = 5;
  ExperimentalDebugInfo experimental_debug_info = 6;
}

// tensorflow/core/framework/op_def.proto
message OpDef {
  message ArgDef {
    string name = 1;
    string description = 2;
    DataType type = 3;
    string type_attr = 4;
    string number_attr = 5;
    string type_list_attr = 6;
    bool is_ref = 16;
  }
  message AttrDef {
    string name = 1;
    string type = 2;
    AttrValue default_value = 3;
    string description = 4;
    bool has_minimum = 5;
    int64 minimum = 6;
    AttrValue allowed_values = 7;
  }
  string name = 1;
  repeated ArgDef input_arg = 2;
  repeated ArgDef output_arg = 3;
  repeated string control_output = 20;
  repeated AttrDef attr = 4;
  OpDeprecation deprecation = 8;
  string summary = 5;
  string description = 6;
  bool is_commutative = 18;
  bool is_aggregate = 16;
  bool is_stateful = 17;
  bool allows_uninitialized_input = 19;
}

message OpDeprecation {
  int32 version = 1;
  string explanation = 2;
}

// tensorflow/core/framework/function.proto
message FunctionDefLibrary {
  repeated FunctionDef function = 1;
  repeated GradientDef gradient = 2;
}

message FunctionDef {
  reserved 2;
  message ArgAttrs {
    map<string, AttrValue> attr = 1;
  }
  OpDef signature = 1;
  map<string, AttrValue> attr = 5;
  map<uint32, ArgAttrs> arg_attr = 7;
  repeated NodeDef node_def = 3;
  map<string, string> ret = 4;
  map<string, string> control_ret = 6;
}

message GradientDef {
  string function_name = 1;
  string gradient_func = 2;
}

// tensorflow/core/framework/versions.proto
message VersionDef {
  int32 producer = 1;
  int32 min_consumer = 2;
  repeated int32 bad_consumers = 3;
}

// tensorflow/core/framework/graph.proto
message GraphDef {
  repeated NodeDef node = 1;
  VersionDef versions = 4;
  int32 version = 3 [deprecated = true];
  FunctionDefLibrary library = 2;
}

// tensorflow/core/protobuf/meta_graph.proto; of its fields only the one that is read
message MetaGraphDef {
  GraphDef graph_def = 2;
}
"""
