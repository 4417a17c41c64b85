#include "kernels/networks/onnx/input_sizes.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/text/quote.h"
#include "kernels/workloads/options.h"

namespace bench::kernels::onnx {
namespace {

using Sizes = std::vector<std::int64_t>;

// "1x3x320x320"; nullopt for anything else.
std::optional<Sizes> sizes_in(std::string_view text) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 31;
  Sizes sizes;
  for (bool more = true; more;) {
    const std::size_t end = text.find('x');
    const auto size = whole_number(text.substr(0, end));
    if (!size || *size < 1 || *size > kLargest) {
      return std::nullopt;
    }
    sizes.push_back(*size);
    more = end != std::string_view::npos;
    text.remove_prefix(more ? end + 1 : text.size());
  }
  return sizes;
}

[[noreturn]] void refuse(const std::string& given, const std::vector<std::string>& inputs,
                         const std::string& example) {
  std::vector<std::string> names;
  for (const std::string& input : inputs) {
    names.push_back(printable(input));
  }
  throw UsageError(
      fmt::format("--input: {} was given; accepted: the sizes of one sample as in {}, "
                  "separated by commas, for the inputs {}",
                  quote(given), printable(example), fmt::join(names, ", ")));
}

}  // namespace

std::map<std::string, Sizes> input_sizes(const std::string& text, const std::vector<std::string>& inputs,
                                         const std::string& example) {
  if (inputs.size() == 1) {
    if (const auto sizes = sizes_in(text)) {
      return {{inputs.front(), *sizes}};
    }
  }
  std::map<std::string, Sizes> all;
  std::size_t from = 0;
  while (from < text.size()) {
    std::optional<Sizes> sizes;
    std::size_t end = from;
    std::string item;
    std::string name;
    while (!sizes && end < text.size()) {
      end = std::min(text.find(',', end), text.size());
      item = text.substr(from, end - from);
      const std::size_t equals = item.rfind('=');
      if (equals != std::string::npos) {
        name = item.substr(0, equals);
        sizes = sizes_in(std::string_view(item).substr(equals + 1));
      }
      end += end < text.size() ? 1 : 0;
    }
    const bool known = std::ranges::find(inputs, name) != inputs.end();
    if (!sizes || !known || !all.emplace(name, *sizes).second) {
      refuse(item.empty() ? text : item, inputs, example);
    }
    from = end;
  }
  if (all.empty() || text.ends_with(',')) {
    refuse(text, inputs, example);
  }
  return all;
}

}  // namespace bench::kernels::onnx
