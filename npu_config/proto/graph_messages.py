"""The messages a graph is stored in, as TensorFlow 1.15.5 declares them.

Everything that can be reached from ``MetaGraphDef`` (with it ``GraphDef``, ``NodeDef``,
``OpDef``, ``FunctionDef`` ...) beyond what a session is configured with.  Built only
when a graph is read; see :mod:`npu_config.proto.session_messages`.
"""

ANY = """
message Any {
  string type_url = 1;
  bytes value = 2;
}
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

message OpList {
  repeated OpDef op = 1;
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

// tensorflow/core/protobuf/trackable_object_graph.proto
message TrackableObjectGraph {
  message TrackableObject {
    message ObjectReference {
      int32 node_id = 1;
      string local_name = 2;
    }
    message SerializedTensor {
      string name = 1;
      string full_name = 2;
      string checkpoint_key = 3;
      bool optional_restore = 4;
    }
    message SlotVariableReference {
      int32 original_variable_node_id = 1;
      string slot_name = 2;
      int32 slot_variable_node_id = 3;
    }
    repeated ObjectReference children = 1;
    repeated SerializedTensor attributes = 2;
    repeated SlotVariableReference slot_variables = 3;
  }
  repeated TrackableObject nodes = 1;
}

// tensorflow/core/protobuf/struct.proto
message StructuredValue {
  oneof kind {
    NoneValue none_value = 1;
    double float64_value = 11;
    sint64 int64_value = 12;
    string string_value = 13;
    bool bool_value = 14;
    TensorShapeProto tensor_shape_value = 31;
    DataType tensor_dtype_value = 32;
    TensorSpecProto tensor_spec_value = 33;
    TypeSpecProto type_spec_value = 34;
    ListValue list_value = 51;
    TupleValue tuple_value = 52;
    DictValue dict_value = 53;
    NamedTupleValue named_tuple_value = 54;
  }
}

message NoneValue {
}

message ListValue {
  repeated StructuredValue values = 1;
}

message TupleValue {
  repeated StructuredValue values = 1;
}

message DictValue {
  map<string, StructuredValue> fields = 1;
}

message PairValue {
  string key = 1;
  StructuredValue value = 2;
}

message NamedTupleValue {
  string name = 1;
  repeated PairValue values = 2;
}

message TensorSpecProto {
  string name = 1;
  TensorShapeProto shape = 2;
  DataType dtype = 3;
}

message TypeSpecProto {
  enum TypeSpecClass {
    UNKNOWN = 0; SPARSE_TENSOR_SPEC = 1; INDEXED_SLICES_SPEC = 2; RAGGED_TENSOR_SPEC = 3;
    TENSOR_ARRAY_SPEC = 4; DATA_DATASET_SPEC = 5; DATA_ITERATOR_SPEC = 6; OPTIONAL_SPEC = 7;
    PER_REPLICA_SPEC = 8;
  }
  TypeSpecClass type_spec_class = 1;
  StructuredValue type_state = 2;
  string type_spec_class_name = 3;
}

// tensorflow/core/framework/variable.proto
enum VariableSynchronization {
  VARIABLE_SYNCHRONIZATION_AUTO = 0; VARIABLE_SYNCHRONIZATION_NONE = 1;
  VARIABLE_SYNCHRONIZATION_ON_WRITE = 2; VARIABLE_SYNCHRONIZATION_ON_READ = 3;
}

enum VariableAggregation {
  VARIABLE_AGGREGATION_NONE = 0; VARIABLE_AGGREGATION_SUM = 1; VARIABLE_AGGREGATION_MEAN = 2;
  VARIABLE_AGGREGATION_ONLY_FIRST_REPLICA = 3;
}

// tensorflow/core/protobuf/saved_object_graph.proto
message SavedObjectGraph {
  repeated SavedObject nodes = 1;
  map<string, SavedConcreteFunction> concrete_functions = 2;
}

message SavedObject {
  reserved 2;
  reserved "attributes";
  repeated TrackableObjectGraph.TrackableObject.ObjectReference children = 1;
  repeated TrackableObjectGraph.TrackableObject.SlotVariableReference slot_variables = 3;
  oneof kind {
    SavedUserObject user_object = 4;
    SavedAsset asset = 5;
    SavedFunction function = 6;
    SavedVariable variable = 7;
    SavedBareConcreteFunction bare_concrete_function = 8;
    SavedConstant constant = 9;
    SavedResource resource = 10;
  }
}

message SavedUserObject {
  string identifier = 1;
  VersionDef version = 2;
  string metadata = 3;
}

message SavedAsset {
  int32 asset_file_def_index = 1;
}

message SavedFunction {
  repeated string concrete_functions = 1;
  FunctionSpec function_spec = 2;
}

message SavedConcreteFunction {
  repeated int32 bound_inputs = 2;
  StructuredValue canonicalized_input_signature = 3;
  StructuredValue output_signature = 4;
}

message SavedBareConcreteFunction {
  string concrete_function_name = 1;
  repeated string argument_keywords = 2;
  int64 allowed_positional_arguments = 3;
}

message SavedConstant {
  string operation = 1;
}

message SavedVariable {
  DataType dtype = 1;
  TensorShapeProto shape = 2;
  bool trainable = 3;
  VariableSynchronization synchronization = 4;
  VariableAggregation aggregation = 5;
  string name = 6;
}

message FunctionSpec {
  reserved 3;
  reserved 4;
  StructuredValue fullargspec = 1;
  bool is_method = 2;
  StructuredValue input_signature = 5;
}

message SavedResource {
  string device = 1;
}

// tensorflow/core/protobuf/saver.proto
message SaverDef {
  enum CheckpointFormatVersion {
    LEGACY = 0; V1 = 1; V2 = 2;
  }
  string filename_tensor_name = 1;
  string save_tensor_name = 2;
  string restore_op_name = 3;
  int32 max_to_keep = 4;
  bool sharded = 5;
  float keep_checkpoint_every_n_hours = 6;
  CheckpointFormatVersion version = 7;
}

// tensorflow/core/protobuf/meta_graph.proto
message MetaGraphDef {
  message MetaInfoDef {
    string meta_graph_version = 1;
    OpList stripped_op_list = 2;
    google.protobuf.Any any_info = 3;
    repeated string tags = 4;
    string tensorflow_version = 5;
    string tensorflow_git_version = 6;
    bool stripped_default_attrs = 7;
  }
  MetaInfoDef meta_info_def = 1;
  GraphDef graph_def = 2;
  SaverDef saver_def = 3;
  map<string, CollectionDef> collection_def = 4;
  map<string, SignatureDef> signature_def = 5;
  repeated AssetFileDef asset_file_def = 6;
  SavedObjectGraph object_graph_def = 7;
}

message CollectionDef {
  message NodeList {
    repeated string value = 1;
  }
  message BytesList {
    repeated bytes value = 1;
  }
  message Int64List {
    repeated int64 value = 1 [packed = true];
  }
  message FloatList {
    repeated float value = 1 [packed = true];
  }
  message AnyList {
    repeated google.protobuf.Any value = 1;
  }
  oneof kind {
    NodeList node_list = 1;
    BytesList bytes_list = 2;
    Int64List int64_list = 3;
    FloatList float_list = 4;
    AnyList any_list = 5;
  }
}

message TensorInfo {
  message CooSparse {
    string values_tensor_name = 1;
    string indices_tensor_name = 2;
    string dense_shape_tensor_name = 3;
  }
  message CompositeTensor {
    TypeSpecProto type_spec = 1;
    repeated TensorInfo components = 2;
  }
  oneof encoding {
    string name = 1;
    CooSparse coo_sparse = 4;
    CompositeTensor composite_tensor = 5;
  }
  DataType dtype = 2;
  TensorShapeProto tensor_shape = 3;
}

message SignatureDef {
  map<string, TensorInfo> inputs = 1;
  map<string, TensorInfo> outputs = 2;
  string method_name = 3;
}

message AssetFileDef {
  TensorInfo tensor_info = 1;
  string filename = 2;
}
"""
