#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/ops/elements.h"
#include "isa/machine_config.h"
#include "sim/run_image.h"

namespace superstep {
namespace {

/// Enough for every tile of bow.
const std::string kTensor = "tensor<23552xf32>";

/// Device cycles on bow. Tensors are of ones, words are `word`.
double cycles_of(const std::string& arguments, const std::string& results, const std::string& body,
                 std::int32_t word = 0) {
  const std::string text = fmt::format(
      "func.func @main({}) -> ({}) {{\n"
      "%one = stablehlo.constant dense<1> : tensor<i32>\n"
      "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "%nothing = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "%unit = stablehlo.constant dense<1.0> : {}\n"
      "%halves = stablehlo.constant dense<0.5> : {}\n{}}}\n",
      arguments, results, kTensor, kTensor, body);
  const Module module = import_stablehlo(text, "loop.mlir");
  std::vector<HostTensor> values;
  for (const ValueId argument : module.main.arguments()) {
    HostTensor& value = values.emplace_back(module.main.type(argument));
    for (std::size_t i = 0; i < static_cast<std::size_t>(value.type.elements()); ++i) {
      if (is_float(value.type.dtype)) write_float(value, i, word == 0 ? 1 : word);
      if (!is_float(value.type.dtype)) write_int(value, i, word);
    }
  }
  const RunResult run = run_image(compile(module, load_machine("bow")), values, {});
  EXPECT_FALSE(run.trap);
  return static_cast<double>((run.totals.cycles - run.totals.host).value());
}

/// A body with exchanges both ways: %next of %y.
std::string body(const std::string& y, const std::string& next) {
  return fmt::format(
      "%s{1} = stablehlo.reduce({0} init: %nothing) applies stablehlo.maximum across dimensions = "
      "[0] : ({2}, tensor<f32>) -> tensor<f32>\n"
      "%b{1} = stablehlo.broadcast_in_dim %s{1}, dims = [] : (tensor<f32>) -> {2}\n"
      "%h{1} = stablehlo.add {0}, %b{1} : {2}\n"
      "%{1} = stablehlo.multiply %h{1}, %halves : {2}\n",
      y, next, kTensor);
}

double straight(int bodies) {
  std::string text;
  std::string y = "%x";
  for (int i = 0; i < bodies; ++i) {
    text += body(y, fmt::format("y{}", i));
    y = fmt::format("%y{}", i);
  }
  return cycles_of("%x: " + kTensor, kTensor, text + "return " + y + " : " + kTensor + "\n");
}

/// With `limit` trips of a body that makes %z of %y.
std::string loop(const std::string& limit, const std::string& its_body) {
  return fmt::format(
      "%0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, {0}\n"
      "cond {{\n"
      "%p = stablehlo.compare LT, %i, {1}, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "stablehlo.return %p : tensor<i1>\n"
      "}} do {{\n{2}"
      "%j = stablehlo.add %i, %one : tensor<i32>\n"
      "stablehlo.return %j, %z : tensor<i32>, {0}\n}}\n"
      "return %0#1 : {0}\n",
      kTensor, limit, its_body);
}

double counted(int trips, const std::string& its_body) {
  return cycles_of("%x: " + kTensor, kTensor,
                   fmt::format("%n = stablehlo.constant dense<{}> : tensor<i32>\n", trips) +
                       loop("%n", its_body));
}

/// Cycles of a trip, from those of a program that makes so many.
double a_trip(const std::function<double(int)>& cycles_of_trips) {
  return (cycles_of_trips(110) - cycles_of_trips(10)) / 100;
}

/// Of a trip with `body`, beside what that takes outside of loops.
void expect_overhead(const std::function<double(int)>& cycles_of_trips, double most) {
  static const double of_body = straight(4) - straight(3);
  const double overhead = a_trip(cycles_of_trips) - of_body;
  ::testing::Test::RecordProperty("cycles", std::to_string(overhead));
  EXPECT_LE(overhead, most);
}

TEST(LoopCost, OfACountedTripIsAtMost40Cycles) {
  expect_overhead([](int trips) { return counted(trips, body("%y", "z")); }, 40);
}

TEST(LoopCost, OfATripThatIsCountedIn64BitsIsAtMost40Cycles) {
  const auto counted_wide = [&](int trips) {
    return cycles_of(
        "%x: " + kTensor, kTensor,
        fmt::format("%n = stablehlo.constant dense<{1}> : tensor<i64>\n"
                    "%first = stablehlo.constant dense<0> : tensor<i64>\n"
                    "%next = stablehlo.constant dense<1> : tensor<i64>\n"
                    "%0:2 = stablehlo.while(%i = %first, %y = %x) : tensor<i64>, {0}\n"
                    "cond {{\n"
                    "%p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i64>, tensor<i64>) -> "
                    "tensor<i1>\nstablehlo.return %p : tensor<i1>\n"
                    "}} do {{\n{2}"
                    "%j = stablehlo.add %i, %next : tensor<i64>\n"
                    "stablehlo.return %j, %z : tensor<i64>, {0}\n}}\n"
                    "return %0#1 : {0}\n",
                    kTensor, trips, body("%y", "z")));
  };
  expect_overhead(counted_wide, 40);
}

TEST(LoopCost, OfATripThatDecidesByParityIsAtMost80CyclesMoreThanByItsNumber) {
  // As JAX prints i % 2 == 0.
  const std::string parity =
      "%two = stablehlo.constant dense<2> : tensor<i32>\n"
      "%r = stablehlo.remainder %i, %two : tensor<i32>\n"
      "%q = stablehlo.compare NE, %r, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "%s = stablehlo.compare LT, %r, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "%t = stablehlo.compare LT, %two, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "%u = stablehlo.compare NE, %s, %t, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>\n"
      "%v = stablehlo.and %u, %q : tensor<i1>\n"
      "%w = stablehlo.add %r, %two : tensor<i32>\n"
      "%m = stablehlo.select %v, %w, %r : tensor<i1>, tensor<i32>\n"
      "%e = stablehlo.compare EQ, %m, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "%c = stablehlo.convert %e : (tensor<i1>) -> tensor<i32>\n";
  const auto branch = [](const std::string& by) {
    return fmt::format(
        "%z = \"stablehlo.case\"({1}) ({{\n"
        "%a = stablehlo.multiply %y, %halves : {0}\n"
        "\"stablehlo.return\"(%a) : ({0}) -> ()\n}}, {{\n"
        "%b = stablehlo.add %y, %halves : {0}\n"
        "\"stablehlo.return\"(%b) : ({0}) -> ()\n}}) : (tensor<i32>) -> {0}\n",
        kTensor, by);
  };
  const auto trip = [](const std::string& its_body) {
    return a_trip([&](int trips) { return counted(trips, its_body); });
  };
  const double more = trip(parity + branch("%c")) - trip(branch("%i"));
  RecordProperty("cycles", std::to_string(more));
  EXPECT_LE(more, 80);
}

TEST(LoopCost, OfATripThatEndsByACarriedBooleanIsAtMost40Cycles) {
  const auto flagged = [&](int trips) {
    return cycles_of(
        "%x: " + kTensor, kTensor,
        fmt::format(
            "%n = stablehlo.constant dense<{1}> : tensor<i32>\n"
            "%many = stablehlo.constant dense<5000> : tensor<i32>\n"
            "%no = stablehlo.constant dense<false> : tensor<i1>\n"
            "%0:3 = stablehlo.while(%i = %zero, %done = %no, %y = %x) : tensor<i32>, tensor<i1>, "
            "{0}\ncond {{\n"
            "%p = stablehlo.compare LT, %i, %many, SIGNED : (tensor<i32>, tensor<i32>) -> "
            "tensor<i1>\n%open = stablehlo.not %done : tensor<i1>\n"
            "%both = stablehlo.and %p, %open : tensor<i1>\nstablehlo.return %both : tensor<i1>\n"
            "}} do {{\n{2}"
            "%j = stablehlo.add %i, %one : tensor<i32>\n"
            "%last = stablehlo.compare GE, %j, %n, SIGNED : (tensor<i32>, tensor<i32>) -> "
            "tensor<i1>\nstablehlo.return %j, %last, %z : tensor<i32>, tensor<i1>, {0}\n}}\n"
            "return %0#2 : {0}\n",
            kTensor, trips, body("%y", "z")));
  };
  expect_overhead(flagged, 40);
}

TEST(LoopCost, OfATripToALimitOfRunTimeIsAtMost80Cycles) {
  const auto bounded = [&](int trips) {
    return cycles_of("%x: " + kTensor + ", %n: tensor<i32>", kTensor, loop("%n", body("%y", "z")),
                     trips);
  };
  expect_overhead(bounded, 80);
}

TEST(LoopCost, OfAConditionOnAllTilesIsItsReductionAnd320Cycles) {
  const std::string less = "= stablehlo.subtract %y, %unit : " + kTensor + "\n";
  const std::string most =
      " = stablehlo.reduce(%y init: %nothing) applies stablehlo.maximum across dimensions = [0] : "
      "(" +
      kTensor + ", tensor<f32>) -> tensor<f32>\n";
  const auto decided = [&](int trips) {
    return cycles_of(
        "%x: " + kTensor, kTensor,
        "%0 = stablehlo.while(%y = %x) : " + kTensor + "\ncond {\n%m" + most +
            "%p = stablehlo.compare GT, %m, %nothing, FLOAT : (tensor<f32>, "
            "tensor<f32>) -> tensor<i1>\nstablehlo.return %p : tensor<i1>\n} do {\n%z " +
            less + "stablehlo.return %z : " + kTensor + "\n}\nreturn %0 : " + kTensor + "\n",
        trips);
  };
  const auto once = [&](bool is_reduced) {
    return cycles_of("%y: " + kTensor, kTensor + (is_reduced ? ", tensor<f32>" : ""),
                     "%z " + less + (is_reduced ? "%m" + most : "") + "return %z" +
                         (is_reduced ? ", %m : " : " : ") + kTensor +
                         (is_reduced ? ", tensor<f32>" : "") + "\n");
  };
  const double reduction = once(true) - once(false);
  const double trip = a_trip(decided);
  const double counted_trip = a_trip([&](int trips) { return counted(trips, "%z " + less); });
  RecordProperty("trip", std::to_string(trip));
  RecordProperty("counted_trip", std::to_string(counted_trip));
  RecordProperty("reduction", std::to_string(reduction));
  EXPECT_LE(trip - counted_trip, reduction + 320);
}

}  // namespace
}  // namespace superstep
