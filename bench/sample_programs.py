"""Generated programs to which constants of planners are fitted, by the names of SAMPLES: layers with their gradients, products and
transposes, rearrangements, chains of elementwise ops and deep networks of random sizes, and sums of narrow elements. None is a
program of the tests."""
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


def big_transpose(choose, dtype):
    """One or two million elements of three axes, and the same in another order, which therefore have to move."""
    sizes = [choose.choice((12, 16, 33)), choose.choice((96, 200, 320)), 0]
    sizes[2] = choose.choice((1, 2)) * 1000000 // (sizes[0] * sizes[1]) // 8 * 8
    choose.shuffle(sizes)
    order = choose.choice(((0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)))
    a, b = ("tensor<" + "".join(f"{sizes[d]}x" for d in axes) + dtype + ">" for axes in ((0, 1, 2), order))
    return f"""func.func @main(%a: {a}) -> {b} {{
  %0 = stablehlo.transpose %a, dims = [{", ".join(map(str, order))}] : ({a}) -> {b}
  %1 = stablehlo.reshape %a : ({a}) -> {b}
  %2 = stablehlo.add %0, %1 : {b}
  return %2 : {b}
}}"""


def converted_sum(rows, columns, axis, narrow, wide):
    a, b, c = f"tensor<{rows}x{columns}x{narrow}>", f"tensor<{rows}x{columns}x{wide}>", f"tensor<{(columns, rows)[axis]}x{wide}>"
    return f"""func.func @main(%a: {a}) -> {c} {{
  %z = stablehlo.constant dense<{"0.0" if wide[0] == "f" else "0"}> : tensor<{wide}>
  %0 = stablehlo.convert %a : ({a}) -> {b}
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [{axis}] : ({b}, tensor<{wide}>) -> {c}
  return %1 : {c}
}}"""


def rearrangement(a, b, rows, columns, dtype):
    """Two tensors of three axes, transposed in all ways, and rows of odd lengths that meet in words."""
    f = lambda *shape: "tensor<" + "".join(f"{n}x" for n in shape) + dtype + ">"
    x, y, z = f(a, rows, columns), f(rows, columns, a), f(columns, rows, a)
    short, long, both = f(a * rows, columns - 1), f(a * rows, b), f(a * rows, columns - 1 + b)
    return f"""func.func @main(%x: {x}, %l: {long}) -> ({y}, {z}, {both}) {{
  %0 = stablehlo.transpose %x, dims = [1, 2, 0] : ({x}) -> {y}
  %1 = stablehlo.transpose %x, dims = [2, 1, 0] : ({x}) -> {z}
  %2 = stablehlo.reshape %x : ({x}) -> {f(a * rows, columns)}
  %3 = stablehlo.slice %2 [0:{a * rows}, 1:{columns}] : ({f(a * rows, columns)}) -> {short}
  %4 = stablehlo.concatenate %3, %l, dim = 1 : ({short}, {long}) -> {both}
  return %0, %1, %4 : {y}, {z}, {both}
}}"""


UNARY = {"f": ("tanh", "exponential", "negate", "abs", "logistic", "sqrt"), "i": ("negate", "abs", "not")}
BINARY = {"f": ("add", "multiply", "subtract", "maximum", "divide", "power"), "i": ("add", "multiply", "subtract", "maximum", "and", "xor")}


def chain(choose, arguments, ops, elements, dtype):
    """Elementwise ops of random operands, of which the last two are results."""
    t, kind = f"tensor<{elements}x{dtype}>", dtype[0]
    values, lines = [f"%a{i}" for i in range(arguments)], []
    for i in range(ops):
        late = choose.choice(values[-6:])
        lines.append(f"  %{i} = stablehlo.{choose.choice(UNARY[kind])} {late} : {t}" if choose.random() < 0.4 else
                     f"  %{i} = stablehlo.{choose.choice(BINARY[kind])} {late}, {choose.choice(values)} : {t}")
        values.append(f"%{i}")
    given, body = ", ".join(f"%a{i}: {t}" for i in range(arguments)), "\n".join(lines)
    return f"func.func @main({given}) -> ({t}, {t}) {{\n{body}\n  return {values[-2]}, {values[-1]} : {t}, {t}\n}}"


def network(depth, batch, width):
    """So many equal layers of a product, a bias and a tanh."""
    h, w, b = f"tensor<{batch}x{width}xf32>", f"tensor<{width}x{width}xf32>", f"tensor<{width}xf32>"
    lines, last = [], "%x"
    for i in range(depth):
        lines.append(f"""  %d{i} = stablehlo.dot_general {last}, %w{i}, contracting_dims = [1] x [0] : ({h}, {w}) -> {h}
  %c{i} = stablehlo.broadcast_in_dim %b{i}, dims = [1] : ({b}) -> {h}
  %e{i} = stablehlo.add %d{i}, %c{i} : {h}
  %t{i} = stablehlo.tanh %e{i} : {h}""")
        last = f"%t{i}"
    weights = "".join(f", %w{i}: {w}, %b{i}: {b}" for i in range(depth))
    return f"func.func @main(%x: {h}{weights}) -> {h} {{\n" + "\n".join(lines) + f"\n  return {last} : {h}\n}}"


def layers(count, seed=1):
    choose = random.Random(seed)
    return [layer(*(choose.choice(SIZES) for _ in range(3)), choose.choice((5, 9, 18, 36))) for _ in range(count)]


def moves(count, seed=1):
    choose = random.Random(seed)
    size = lambda: choose.choice(SIZES) * choose.choice((1, 2, 4))
    return [product(size(), size(), size(), choose.choice(("f16", "f32"))) for _ in range(count)] + \
           [transpose(size(), size(), choose.choice(("f16", "f32"))) for _ in range(count // 2)]


def transposes(count, seed=1):
    choose = random.Random(seed)
    return [big_transpose(choose, choose.choice(("f16", "f32", "f32"))) for _ in range(count)]


def rearrangements(count, seed=1):
    choose = random.Random(seed)
    small = lambda: choose.choice((3, 5, 8, 12, 17, 24))
    size = lambda: choose.choice(SIZES) + choose.choice((0, 0, 1, 2, 7))
    return [rearrangement(small(), small(), size(), size(), choose.choice(("i8", "f16", "f16", "f32"))) for _ in range(count)]


def chains(count, seed=1):
    choose = random.Random(seed)
    return [chain(choose, choose.choice((2, 3, 6, 12)), choose.choice((2, 4, 8, 16, 30, 60)), 64 * choose.choice((60, 400, 2000)),
                  choose.choice(("f16", "f32", "i32"))) for _ in range(count)]


def networks(count, seed=1):
    choose = random.Random(seed)
    return [network(choose.choice((3, 6, 12, 24)), choose.choice((16, 40, 96)), choose.choice((48, 96, 192))) for _ in range(count)]


def sums(count=18):
    return [converted_sum(rows, columns, axis, narrow, wide)
            for narrow, wide in (("i8", "i32"), ("i16", "i32"), ("f16", "f32"))
            for rows, columns in ((32, 64), (300, 1000), (300, 1001)) for axis in (0, 1)][:count]


SAMPLES = {sample.__name__: sample for sample in (layers, moves, transposes, rearrangements, chains, networks, sums)}
