// Entries that register themselves from their own file, and are found by name.
//
//   const Registration<SweepType> BENCH_REGISTERED{{.name = "batch", …}};  // at namespace scope
//   const SweepType* type = registry<SweepType>().find("batch");
//
// The object files must be linked even though nobody names them: the rooms are OBJECT libraries.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Entries are immutable after start-up and sorted by name, so that listings do not depend on link order.
template <class Entry>
class Registry {
 public:
  void add(Entry entry) {
    if (find(entry.name) != nullptr) {
      throw std::logic_error("registered twice: " + std::string(entry.name));
    }
    auto at = std::ranges::find_if(entries_, [&](const auto& e) { return entry.name < e->name; });
    entries_.insert(at, std::make_unique<Entry>(std::move(entry)));
  }

  const Entry* find(std::string_view name) const {
    const auto at = std::ranges::find_if(entries_, [&](const auto& e) { return e->name == name; });
    return at == entries_.end() ? nullptr : at->get();
  }

  const std::vector<std::unique_ptr<Entry>>& entries() const { return entries_; }

 private:
  std::vector<std::unique_ptr<Entry>> entries_;
};

template <class Entry>
Registry<Entry>& registry() {
  static Registry<Entry> instance;
  return instance;
}

template <class Entry>
struct Registration {
  Registration(std::initializer_list<Entry> entries) {
    for (const Entry& entry : entries) {
      registry<Entry>().add(entry);
    }
  }
};

}  // namespace bench

// A name that nothing else has, for an object that nobody names: several files may be compiled as one.
#define BENCH_JOINED(name, number) name##number
#define BENCH_NUMBERED(name, number) BENCH_JOINED(name, number)
#define BENCH_REGISTERED BENCH_NUMBERED(registered_, __COUNTER__)
