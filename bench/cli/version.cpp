#include "bench/cli/version.h"

#include <fmt/format.h>

#include "bench/component.h"
#include "bench/json.h"
#include "bench/registry.h"
#include "bench/result/result_json.h"
#include "bench/run/context.h"
#include "bench/text/lines.h"
#include "bench/text/quote.h"

namespace bench {

std::string version_in(const std::string& format, std::size_t width) {
  constexpr std::size_t kColumn = 10;
  Json json{{"bench", build_name()}};
  std::string text = fmt::format("bench {}\n", build_name());
  for (const auto& component : registry<Component>().entries()) {
    const std::string description = component->describe();
    json[component->name] = description;
    text += hanging(component->name, printable(description, std::string::npos), kColumn, width);
  }
  return format == "json" ? to_indented_text(json) : text;
}

}  // namespace bench
