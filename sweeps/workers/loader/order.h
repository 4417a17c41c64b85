// How workers share the batches, and in which order the consumer gets them.
#pragma once

namespace bench::loader {

enum class Order {
  in_order,  // worker k mod W makes batch k whole; batches are delivered by number, so a slow one holds back
             // all after it
  any,  // all workers share the samples of the oldest unfinished batch; the first done is delivered first
};

constexpr const char* name_of(Order order) {
  return order == Order::in_order ? "in-order" : "any";
}

}  // namespace bench::loader
