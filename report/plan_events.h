#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "isa/program_image.h"
#include "report/answer_field.h"

namespace superstep {

/// Choices of the compiler, as text in lines of so many columns.
[[nodiscard]] std::string plan_events_text(std::span<const CompileEvent> events,
                                           std::size_t columns);

/// The same as a list of a document; its fields are `{name, operation, …}` below `plan_events[]`.
[[nodiscard]] nlohmann::ordered_json plan_events_document(std::span<const CompileEvent> events);

/// The fields of `plan_events_document`.
inline constexpr AnswerField kPlanEventFields[] = {
    {"plan_events", "list", "",
     "choices of the compiler that one may not expect, in program order"},
    {"plan_events[].kind", "text", "", "no_amp, dropped_plan, slow_route or small_product"},
    {"plan_events[].operation", "text", "", "such as dot_general.3"},
    {"plan_events[].source", "text", "", "file:line:column of the module, or empty"},
    {"plan_events[].reason", "text", "", "what was found"},
    {"plan_events[].advice", "text", "", "what would help, or empty"},
};

}  // namespace superstep
