#pragma once

#include <fmt/ostream.h>
