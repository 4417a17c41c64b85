// A build of the program that a gate must find: every matrix product on the CPU takes 5 % longer, and nothing
// else.
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "kernels/operations/linear/linear.h"
#include "kernels/operations/operation.h"

namespace bench::kernels {
namespace {

class SlowerOperation final : public Operation {
 public:
  explicit SlowerOperation(std::unique_ptr<Operation> operation) : operation_(std::move(operation)) {}

  std::span<const SlotInfo> slots() const override { return operation_->slots(); }
  void prepare() override { operation_->prepare(); }
  void pack(Slot slot, std::span<const float> plain, void* packed) override {
    operation_->pack(slot, plain, packed);
  }
  void unpack(Slot slot, const void* packed, std::span<float> plain) override {
    operation_->unpack(slot, packed, plain);
  }
  void run(const SlotPointers& pointers) override {
    using Clock = std::chrono::steady_clock;
    constexpr double kLonger = 1.05;
    const auto start = Clock::now();
    operation_->run(pointers);
    const auto end = start + std::chrono::duration_cast<Clock::duration>((Clock::now() - start) * kLonger);
    while (Clock::now() < end) {
    }
  }
  bool in_place_sum() const override { return operation_->in_place_sum(); }
  double flops() const override { return operation_->flops(); }
  std::string algorithm() const override { return operation_->algorithm(); }

 private:
  std::unique_ptr<Operation> operation_;
};

const Registration<Implementation<Linear>> BENCH_REGISTERED{
    {.name = "slower",
     .device_kind = "cpu",
     .preference = 1000,
     .unsupported = [](const Linear& spec, const Device& device) -> std::optional<std::string> {
       const Implementation<Linear>* const onednn = registry<Implementation<Linear>>().find("onednn");
       return onednn->unsupported(spec, device);
     },
     .make = [](const Linear& spec, Device& device) -> std::unique_ptr<Operation> {
       return std::make_unique<SlowerOperation>(make_operation(spec, device, "onednn"));
     }}};

}  // namespace
}  // namespace bench::kernels
