#pragma once

#include "poplar/QuarterFloat.hpp"
