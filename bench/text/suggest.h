// The end of a message about a name that is not known: what is accepted, and what was probably meant.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Least number of characters inserted, removed, replaced or swapped with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest name, where a slip of the finger could explain it: at most a third of its characters differ,
// whatever their case; else one that is a part of what was given: "num_workers".
std::optional<std::string> nearest(std::string_view given, const std::vector<std::string>& accepted);

// " (did you mean resnet50?)", or names that are equally near; empty where none is.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& accepted);

// "--workload: 'resnet5' is not known; accepted: resnet18, resnet50 (did you mean resnet50?)"
std::string unknown_value(std::string_view option, std::string_view given,
                          const std::vector<std::string>& accepted, std::string_view more = "");

}  // namespace bench
