module @jit_gradient_of_scan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<5x5xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32> loc(#loc5)
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x5xf32> loc(#loc6)
    return %0 : tensor<5x5xf32> loc(#loc5)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc1 = loc("tests/models/programs.py":18:8 to :79)
#loc2 = loc("tests/models/indexing/model.py":135:11 to :87)
#loc3 = loc("programs_in.<locals>.write"(#loc1))
#loc4 = loc("gradient_of_scan"(#loc2))
#loc5 = loc("jit(gradient_of_scan)"(#loc3))
#loc6 = loc("jit(gradient_of_scan)/broadcast_in_dim"(#loc4))
