// A cache of limited size: a new entry replaces the least recently used one.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <utility>

namespace bench {

// For one thread. Key needs operator<.
template <class Key, class Value>
class LruCache {
 public:
  explicit LruCache(std::size_t most) : most_(most) {}

  // The value of `key`, from make() where it is not there. Good until the next call.
  template <class Make>
  Value& get(const Key& key, const Make& make) {
    if (const auto known = places_.find(key); known != places_.end()) {
      entries_.splice(entries_.begin(), entries_, known->second);
      return entries_.front().second;
    }
    entries_.emplace_front(key, make());
    places_.emplace(key, entries_.begin());
    if (entries_.size() > most_) {
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
    return entries_.front().second;
  }

  std::size_t size() const { return entries_.size(); }
  void clear() {
    places_.clear();
    entries_.clear();
  }

 private:
  using Entries = std::list<std::pair<Key, Value>>;

  std::size_t most_;
  Entries entries_;  // the one used last first
  std::map<Key, typename Entries::iterator> places_;
};

}  // namespace bench
