#pragma once

#include "poplar/HalfFloat.hpp"
