#include "tools/answer.h"

namespace superstep {
namespace {

using nlohmann::ordered_json;

ordered_json type_schema(std::string_view type) {
  constexpr std::string_view kOrNull = " or null";
  if (type.ends_with(kOrNull)) {
    ordered_json schema = type_schema(type.substr(0, type.size() - kOrNull.size()));
    schema["type"] = {schema["type"], "null"};
    return schema;
  }
  if (type == "text") return {{"type", "string"}};
  if (type == "list") return {{"type", "array"}};
  return {{"type", type}};
}

/// The schema of the object that has a field of this path, made where there is none; leaves the
/// field's own name in `path`.
ordered_json* owner_of(ordered_json* schema, std::string_view& path) {
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    std::string name(path.substr(0, dot));
    path.remove_prefix(dot + 1);
    const bool in_list = name.ends_with("[]");
    if (in_list) name.resize(name.size() - 2);
    ordered_json& field = (*schema)["properties"][name];
    if (field.is_null()) field = type_schema(in_list ? "list" : "object");
    schema = in_list ? &field["items"] : &field;
    if (schema->is_null()) *schema = type_schema("object");
    (*schema)["additionalProperties"] = false;
  }
  return schema;
}

}  // namespace

ordered_json schema_of(std::string_view command, std::span<const AnswerField> fields) {
  ordered_json schema = type_schema("object");
  schema["additionalProperties"] = false;
  schema["required"] = ordered_json::array();
  const auto add = [&](const AnswerField& field) {
    std::string_view name = field.path;
    ordered_json& property = (*owner_of(&schema, name))["properties"][std::string(name)];
    property.update(type_schema(field.type));
    std::string meaning(field.meaning);
    if (!field.unit.empty())
      meaning += (meaning.empty() ? "" : "; ") + ("in " + std::string(field.unit));
    if (!meaning.empty()) property["description"] = meaning;
  };
  for (const AnswerField& field : envelope_fields()) {
    add(field);
    // Only the envelope is there whatever happens.
    const bool is_always = field.path != "help" && field.path.find('.') == std::string_view::npos;
    if (is_always) schema["required"].push_back(field.path);
  }
  schema["properties"]["schema"]["const"] = "superstep-" + std::string(command) + "/1";
  for (const AnswerField& field : fields) add(field);
  return schema;
}

}  // namespace superstep
