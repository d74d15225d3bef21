"""Generated programs to which constants of planners are fitted: layers with their gradients, products and transposes of random
sizes, and sums of narrow elements. None is a program of the tests."""
import random

SIZES = (12, 24, 40, 48, 80, 96, 144, 192, 320, 384)


def layer(batch, depth, width, classes):
    """Two products with a bias and a maximum between them, the gradients of a sum of squares, and their sums over the batch."""
    f = lambda *shape: "tensor<" + "".join(f"{n}x" for n in shape) + "f32>"
    x, w, b, h, v, y = (f(batch, depth), f(depth, width), f(width), f(batch, width), f(width, classes), f(batch, classes))
    dot = lambda a, c, ta, tc, at, ct, r: f"stablehlo.dot_general {a}, {c}, contracting_dims = [{ta}] x [{tc}] : ({at}, {ct}) -> {r}"
    return f"""func.func @main(%x: {x}, %w: {w}, %b: {b}, %v: {v}) -> ({w}, {v}, {b}, tensor<f32>) {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %zh = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> {h}
  %0 = {dot("%x", "%w", 1, 0, x, w, h)}
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : ({b}) -> {h}
  %2 = stablehlo.add %0, %1 : {h}
  %3 = stablehlo.maximum %2, %zh : {h}
  %4 = {dot("%3", "%v", 1, 0, h, v, y)}
  %5 = stablehlo.multiply %4, %4 : {y}
  %6 = stablehlo.reduce(%5 init: %z) applies stablehlo.add across dimensions = [0, 1] : ({y}, tensor<f32>) -> tensor<f32>
  %7 = {dot("%3", "%4", 0, 0, h, y, v)}
  %8 = {dot("%4", "%v", 1, 1, y, v, h)}
  %9 = {dot("%x", "%8", 0, 0, x, h, w)}
  %10 = stablehlo.reduce(%8 init: %z) applies stablehlo.add across dimensions = [0] : ({h}, tensor<f32>) -> {b}
  return %9, %7, %10, %6 : {w}, {v}, {b}, tensor<f32>
}}"""


def product(rows, columns, depth, dtype):
    a, b, c = (f"tensor<{m}x{n}x{dtype}>" for m, n in ((rows, depth), (depth, columns), (rows, columns)))
    return f"""func.func @main(%a: {a}, %b: {b}) -> {c} {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({a}, {b}) -> {c}
  return %0 : {c}
}}"""


def transpose(rows, columns, dtype):
    a, b = (f"tensor<{m}x{n}x{dtype}>" for m, n in ((rows, columns), (columns, rows)))
    return f"""func.func @main(%a: {a}) -> {b} {{
  %0 = stablehlo.transpose %a, dims = [1, 0] : ({a}) -> {b}
  return %0 : {b}
}}"""


def converted_sum(rows, columns, axis, narrow, wide):
    a, b, c = f"tensor<{rows}x{columns}x{narrow}>", f"tensor<{rows}x{columns}x{wide}>", f"tensor<{(columns, rows)[axis]}x{wide}>"
    return f"""func.func @main(%a: {a}) -> {c} {{
  %z = stablehlo.constant dense<{"0.0" if wide[0] == "f" else "0"}> : tensor<{wide}>
  %0 = stablehlo.convert %a : ({a}) -> {b}
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [{axis}] : ({b}, tensor<{wide}>) -> {c}
  return %1 : {c}
}}"""


def layers(count, seed=1):
    choose = random.Random(seed)
    return [layer(*(choose.choice(SIZES) for _ in range(3)), choose.choice((5, 9, 18, 36))) for _ in range(count)]


def moves(count, seed=1):
    choose = random.Random(seed)
    size = lambda: choose.choice(SIZES) * choose.choice((1, 2, 4))
    return [product(size(), size(), size(), choose.choice(("f16", "f32"))) for _ in range(count)] + \
           [transpose(size(), size(), choose.choice(("f16", "f32"))) for _ in range(count // 2)]


def sums():
    return [converted_sum(rows, columns, axis, narrow, wide)
            for narrow, wide in (("i8", "i32"), ("i16", "i32"), ("f16", "f32"))
            for rows, columns in ((32, 64), (300, 1000), (300, 1001)) for axis in (0, 1)]
