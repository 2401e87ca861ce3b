"""The messages a session is configured with, as TensorFlow 1.15.5 declares them.

Everything that can be reached from ``ConfigProto``, in the language of .proto files;
the names, numbers and types are TensorFlow's (the headings name its files), so what is
written with these messages is read by TensorFlow and the reverse.  Only declarations
live here; :mod:`npu_config.proto.schema` turns them into message classes.
"""

SESSION = """
// tensorflow/core/framework/tensor_shape.proto
message TensorShapeProto {
  message Dim {
    int64 size = 1;
    string name = 2;
  }
  repeated Dim dim = 2;
  bool unknown_rank = 3;
}

// tensorflow/core/framework/types.proto
enum DataType {
  DT_INVALID = 0; DT_FLOAT = 1; DT_DOUBLE = 2; DT_INT32 = 3; DT_UINT8 = 4; DT_INT16 = 5;
  DT_INT8 = 6; DT_STRING = 7; DT_COMPLEX64 = 8; DT_INT64 = 9; DT_BOOL = 10; DT_QINT8 = 11;
  DT_QUINT8 = 12; DT_QINT32 = 13; DT_BFLOAT16 = 14; DT_QINT16 = 15; DT_QUINT16 = 16;
  DT_UINT16 = 17; DT_COMPLEX128 = 18; DT_HALF = 19; DT_RESOURCE = 20; DT_VARIANT = 21;
  DT_UINT32 = 22; DT_UINT64 = 23; DT_FLOAT_REF = 101; DT_DOUBLE_REF = 102; DT_INT32_REF = 103;
  DT_UINT8_REF = 104; DT_INT16_REF = 105; DT_INT8_REF = 106; DT_STRING_REF = 107;
  DT_COMPLEX64_REF = 108; DT_INT64_REF = 109; DT_BOOL_REF = 110; DT_QINT8_REF = 111;
  DT_QUINT8_REF = 112; DT_QINT32_REF = 113; DT_BFLOAT16_REF = 114; DT_QINT16_REF = 115;
  DT_QUINT16_REF = 116; DT_UINT16_REF = 117; DT_COMPLEX128_REF = 118; DT_HALF_REF = 119;
  DT_RESOURCE_REF = 120; DT_VARIANT_REF = 121; DT_UINT32_REF = 122; DT_UINT64_REF = 123;
}

// tensorflow/core/framework/resource_handle.proto
message ResourceHandleProto {
  message DtypeAndShape {
    DataType dtype = 1;
    TensorShapeProto shape = 2;
  }
  string device = 1;
  string container = 2;
  string name = 3;
  uint64 hash_code = 4;
  string maybe_type_name = 5;
  repeated DtypeAndShape dtypes_and_shapes = 6;
}

// tensorflow/core/framework/tensor.proto
message TensorProto {
  DataType dtype = 1;
  TensorShapeProto tensor_shape = 2;
  int32 version_number = 3;
  bytes tensor_content = 4;
  repeated int32 half_val = 13 [packed = true];
  repeated float float_val = 5 [packed = true];
  repeated double double_val = 6 [packed = true];
  repeated int32 int_val = 7 [packed = true];
  repeated bytes string_val = 8;
  repeated float scomplex_val = 9 [packed = true];
  repeated int64 int64_val = 10 [packed = true];
  repeated bool bool_val = 11 [packed = true];
  repeated double dcomplex_val = 12 [packed = true];
  repeated ResourceHandleProto resource_handle_val = 14;
  repeated VariantTensorDataProto variant_val = 15;
  repeated uint32 uint32_val = 16 [packed = true];
  repeated uint64 uint64_val = 17 [packed = true];
}

message VariantTensorDataProto {
  string type_name = 1;
  bytes metadata = 2;
  repeated TensorProto tensors = 3;
}

// tensorflow/core/framework/attr_value.proto
message AttrValue {
  message ListValue {
    repeated bytes s = 2;
    repeated int64 i = 3 [packed = true];
    repeated float f = 4 [packed = true];
    repeated bool b = 5 [packed = true];
    repeated DataType type = 6 [packed = true];
    repeated TensorShapeProto shape = 7;
    repeated TensorProto tensor = 8;
    repeated NameAttrList func = 9;
  }
  oneof value {
    bytes s = 2;
    int64 i = 3;
    float f = 4;
    bool b = 5;
    DataType type = 6;
    TensorShapeProto shape = 7;
    TensorProto tensor = 8;
    ListValue list = 1;
    NameAttrList func = 10;
    string placeholder = 9;
  }
}

message NameAttrList {
  string name = 1;
  map<string, AttrValue> attr = 2;
}

// tensorflow/core/protobuf/cluster.proto
message JobDef {
  string name = 1;
  map<int32, string> tasks = 2;
}

message ClusterDef {
  repeated JobDef job = 1;
}

// tensorflow/core/protobuf/verifier_config.proto
message VerifierConfig {
  enum Toggle {
    DEFAULT = 0; ON = 1; OFF = 2;
  }
  int64 verification_timeout_in_ms = 1;
  Toggle structure_verifier = 2;
}

// tensorflow/core/protobuf/rewriter_config.proto
message AutoParallelOptions {
  bool enable = 1;
  int32 num_replicas = 2;
}

message ScopedAllocatorOptions {
  repeated string enable_op = 1;
}

message RewriterConfig {
  enum Toggle {
    DEFAULT = 0; ON = 1; OFF = 2; AGGRESSIVE = 3;
  }
  enum NumIterationsType {
    DEFAULT_NUM_ITERS = 0; ONE = 1; TWO = 2;
  }
  enum MemOptType {
    DEFAULT_MEM_OPT = 0; NO_MEM_OPT = 1; MANUAL = 2; SWAPPING_HEURISTICS = 4;
    RECOMPUTATION_HEURISTICS = 5; SCHEDULING_HEURISTICS = 6; HEURISTICS = 3;
  }
  message CustomGraphOptimizer {
    string name = 1;
    map<string, AttrValue> parameter_map = 2;
  }
  Toggle layout_optimizer = 1;
  Toggle constant_folding = 3;
  Toggle shape_optimization = 13;
  Toggle remapping = 14;
  Toggle arithmetic_optimization = 7;
  Toggle dependency_optimization = 8;
  Toggle loop_optimization = 9;
  Toggle function_optimization = 10;
  Toggle debug_stripper = 11;
  bool disable_model_pruning = 2;
  Toggle scoped_allocator_optimization = 15;
  Toggle pin_to_host_optimization = 18;
  Toggle implementation_selector = 22;
  Toggle auto_mixed_precision = 23;
  bool disable_meta_optimizer = 19;
  NumIterationsType meta_optimizer_iterations = 12;
  int32 min_graph_nodes = 17;
  MemOptType memory_optimization = 4;
  string memory_optimizer_target_node_name_scope = 6;
  int64 meta_optimizer_timeout_ms = 20;
  AutoParallelOptions auto_parallel = 5;
  bool fail_on_optimizer_errors = 21;
  ScopedAllocatorOptions scoped_allocator_opts = 16;
  repeated string optimizers = 100;
  repeated CustomGraphOptimizer custom_optimizers = 200;
  VerifierConfig inter_optimizer_verifier_config = 300;
  VerifierConfig post_optimization_verifier_config = 301;
}

// tensorflow/core/protobuf/config.proto
message GPUOptions {
  message Experimental {
    message VirtualDevices {
      repeated float memory_limit_mb = 1;
    }
    repeated VirtualDevices virtual_devices = 1;
    bool use_unified_memory = 2;
    int32 num_dev_to_dev_copy_streams = 3;
    string collective_ring_order = 4;
    bool timestamped_allocator = 5;
    int32 kernel_tracker_max_interval = 7;
    int32 kernel_tracker_max_bytes = 8;
    int32 kernel_tracker_max_pending = 9;
  }
  double per_process_gpu_memory_fraction = 1;
  bool allow_growth = 4;
  string allocator_type = 2;
  int64 deferred_deletion_bytes = 3;
  string visible_device_list = 5;
  int32 polling_active_delay_usecs = 6;
  int32 polling_inactive_delay_msecs = 7;
  bool force_gpu_compatible = 8;
  Experimental experimental = 9;
}

message OptimizerOptions {
  enum Level {
    L1 = 0; L0 = -1;
  }
  enum GlobalJitLevel {
    DEFAULT = 0; OFF = -1; ON_1 = 1; ON_2 = 2;
  }
  bool do_common_subexpression_elimination = 1;
  bool do_constant_folding = 2;
  int64 max_folded_constant_in_bytes = 6;
  bool do_function_inlining = 4;
  Level opt_level = 3;
  GlobalJitLevel global_jit_level = 5;
}

message GraphOptions {
  reserved 1;
  reserved "skip_common_subexpression_elimination";
  bool enable_recv_scheduling = 2;
  OptimizerOptions optimizer_options = 3;
  int64 build_cost_model = 4;
  int64 build_cost_model_after = 9;
  bool infer_shapes = 5;
  bool place_pruned_graph = 6;
  bool enable_bfloat16_sendrecv = 7;
  int32 timeline_step = 8;
  RewriterConfig rewrite_options = 10;
}

message ThreadPoolOptionProto {
  int32 num_threads = 1;
  string global_name = 2;
}

message RPCOptions {
  bool use_rpc_for_inprocess_master = 1;
  string compression_algorithm = 2;
  int32 compression_level = 3;
  bool cache_rpc_response = 4;
  bool disable_session_connection_sharing = 5;
}

message SessionMetadata {
  string name = 1;
  int64 version = 2;
}

message ConfigProto {
  message Experimental {
    reserved 2;
    string collective_group_leader = 1;
    string executor_type = 3;
    int32 recv_buf_max_chunk = 4;
    bool use_numa_affinity = 5;
    bool collective_deterministic_sequential_execution = 6;
    bool collective_nccl = 7;
    bool share_session_state_in_clusterspec_propagation = 8;
    bool disable_thread_spinning = 9;
    bool share_cluster_devices_in_session = 10;
    SessionMetadata session_metadata = 11;
    bool optimize_for_static_graph = 12;
  }
  map<string, int32> device_count = 1;
  int32 intra_op_parallelism_threads = 2;
  int32 inter_op_parallelism_threads = 5;
  bool use_per_session_threads = 9;
  repeated ThreadPoolOptionProto session_inter_op_thread_pool = 12;
  int32 placement_period = 3;
  repeated string device_filters = 4;
  GPUOptions gpu_options = 6;
  bool allow_soft_placement = 7;
  bool log_device_placement = 8;
  GraphOptions graph_options = 10;
  int64 operation_timeout_in_ms = 11;
  RPCOptions rpc_options = 13;
  ClusterDef cluster_def = 14;
  bool isolate_session_state = 15;
  Experimental experimental = 16;
}
"""
