#loc1 = loc("x")
module @jit_top_k attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32000xf32> loc("x")) -> (tensor<8xf32> {jax.result_info = "result[0]"}, tensor<8xi32> {jax.result_info = "result[1]"}) {
    %values, %indices = chlo.top_k(%arg0, k = 8) : tensor<32000xf32> -> (tensor<8xf32>, tensor<8xi32>) loc(#loc6)
    return %values, %indices : tensor<8xf32>, tensor<8xi32> loc(#loc7)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc("models/order/model.py":21:11 to :30)
#loc3 = loc("models/order/model.py":26:4 to :99)
#loc4 = loc("top_k"(#loc2))
#loc5 = loc("main"(#loc3))
#loc6 = loc("jit(top_k)/top_k"(#loc4))
#loc7 = loc("jit(top_k)"(#loc5))
