// Operations shared by description: ResNet-50 has 53 convolutions of 23 kinds, and describing one to a
// library costs more than everything else a plan does.
#pragma once

#include <memory>
#include <string>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/device.h"
#include "kernels/operations/operation.h"

namespace bench::kernels {

class OperationCache {
 public:
  template <class Spec>
  std::shared_ptr<Operation> make(const Spec& spec, Device& device, const std::string& implementation) {
    auto& known = entries<Spec>().all;
    for (const auto& [description, operation] : known) {
      if (description == spec) {
        return operation;
      }
    }
    known.emplace_back(spec, make_operation(spec, device, implementation));
    return known.back().second;
  }

  // What was asked for, each description once.
  template <class Spec>
  std::vector<Spec> specs() {
    std::vector<Spec> found;
    for (const auto& entry : entries<Spec>().all) {
      found.push_back(entry.first);
    }
    return found;
  }

 private:
  struct AnyEntries {
    virtual ~AnyEntries() = default;
  };
  template <class Spec>
  struct Entries final : AnyEntries {
    std::vector<std::pair<Spec, std::shared_ptr<Operation>>> all;
  };

  template <class Spec>
  Entries<Spec>& entries() {
    std::unique_ptr<AnyEntries>& known = by_kind_[typeid(Spec)];
    if (known == nullptr) {
      known = std::make_unique<Entries<Spec>>();
    }
    return static_cast<Entries<Spec>&>(*known);
  }

  std::unordered_map<std::type_index, std::unique_ptr<AnyEntries>> by_kind_;
};

}  // namespace bench::kernels
