// A GPU that is not here, as a device.
#include <stdexcept>

#include <gmock/gmock.h>

#include "bench/error.h"
#include "bench/modelled.h"
#include "bench/registry.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const ModelledDevices& kind() {
  return *registry<ModelledDevices>().find("modelled");
}

TEST(ModelledDevice, IsTheCardOfTheDataSheet) {
  const auto device = kind().open("t4", {});
  const DeviceInfo& info = device->info();
  EXPECT_EQ(info.id, "t4");
  EXPECT_EQ(info.kind, "modelled");
  EXPECT_EQ(info.details.at("compute_capability"), "7.5");
  EXPECT_EQ(info.details.at("pcie"), "gen3 x16");
  EXPECT_EQ(info.compute_units, 40);
  EXPECT_LT(info.available_bytes, info.memory_bytes);
  EXPECT_NE(device->model(), nullptr);
  EXPECT_FALSE(device->unsupported(Dtype::fp16));
  expect_words(device->unsupported(Dtype::bf16).value_or(""));
  EXPECT_NEAR(device->peaks(Dtype::fp16).flops_per_s, 65e12, 1e12);
  EXPECT_EQ(device->peaks(Dtype::fp32).source, "data sheet");
}

TEST(ModelledDevice, RunsNothing) {
  const auto device = kind().open("t4", {});
  EXPECT_THROW(device->allocate(1, MemoryCategory::input), std::logic_error);
  EXPECT_EQ(device->memory().live().total(), 0);
  EXPECT_THROW(device->time([] {}), std::logic_error);
  EXPECT_THROW(device->synchronize(), std::logic_error);
  EXPECT_EQ(device->memory().peak(), 1) << "of the refused allocation";
}

TEST(ModelledDevice, OpensAliasesAndFiles) {
  for (const std::string name : {"t4", "T4", "v100-sxm2-16gb"}) {
    EXPECT_NO_THROW(kind().open(name, {})) << name;
  }
  const bench::testing::TemporaryFolder folder;
  const std::string path = (folder.path() / "card.json").string();
  bench::testing::write_file(path, R"({"id": "mine"})");
  EXPECT_THAT([&] { kind().open(path, {}); }, ThrowsMessage<UsageError>(HasSubstr("--device")));
  EXPECT_THAT([] { kind().open("t5", {}); }, ThrowsMessage<UsageError>(HasSubstr("t4")));
}

TEST(ModelledDevice, TheCompilerWasMeasuredIn16BitsOnly) {
  const auto device = kind().open("rtx4090", {.framework = Framework::pytorch_compiled});
  EXPECT_TRUE(device->unsupported(Dtype::fp32));
  EXPECT_FALSE(device->unsupported(Dtype::fp16));
}

}  // namespace
}  // namespace bench
