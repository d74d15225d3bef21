#pragma once

namespace gccs::popsolver {

class Model {};
class Variable {};
class DataType {};

}  // namespace gccs::popsolver
