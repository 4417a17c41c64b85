// Which earlier results a run goes on with, and which it refuses.
#include "bench/commands/resume.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <ostream>
#include <string>

#include <gmock/gmock.h>

#include "bench/error.h"
#include "bench/host/interrupt.h"
#include "bench/result/result_json.h"
#include "tests/bench/support/child.h"
#include "tests/bench/support/sample_document.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using testing::sample_document;
using testing::TemporaryFolder;
using ::testing::ThrowsMessage;
using testing::write_file;

ResultDocument resumable_document() {
  ResultDocument document = sample_document();
  document.sweep.mode = "infer";
  document.sweep.workload_options = {{"image-size", "224"}};
  return document;
}

// A run like `fresh`, with the file's points.
ResultDocument goes_on_with(const fs::path& path, ResultDocument fresh = resumable_document()) {
  fresh.points.clear();
  fresh.unmeasured.clear();
  EXPECT_TRUE(take_over(path, {}, ResumeReason::requested, fresh));
  return fresh;
}

ResultDocument goes_on(const ResultDocument& fresh) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "x.json";
  write_file(path, to_text(to_json(resumable_document())));
  return goes_on_with(path, fresh);
}

TEST(Resume, OfWhatIsNoResultNamesTheOptionAndWhatItAccepts) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "x.json";
  const std::string place = path.string();
  const std::string accepted =
      "; accepted is a whole bench-result/2 file; run without --resume to start over (the old file is kept)";
  const auto refused_with = [&](const std::string& text, const std::string& why) {
    write_file(path, text);
    EXPECT_THAT([&] { goes_on_with(path); },
                ThrowsMessage<UsageError>("--resume: " + place + why + accepted));
  };
  refused_with("{\"schema\"", " is truncated: the JSON ends too early, after 9 bytes");
  refused_with("hello", " is not JSON: the error is at byte 1");
  refused_with("{\"schema\": \"bench-result/9\"}",
               " is not a result this program can read: schema is bench-result/9; this program reads "
               "bench-result/2");
}

struct Change {
  const char* part;  // "context" or "sweep"
  const char* pointer;
  Json value;
  std::string message;
};

void PrintTo(const Change& change, std::ostream* out) {
  *out << change.part << change.pointer;
}

class ResumeOfAnother : public ::testing::TestWithParam<Change> {};

TEST(Resume, TheSameRunGoesOn) {
  ResultDocument fresh = resumable_document();
  fresh.context.google_benchmark["date"] = "2030-01-01T00:00:00+00:00";
  fresh.context.google_benchmark["load_avg"] = {9.0, 9.0, 9.0};
  fresh.context.argv = {"bench", "--sweep", "batch", "--resume"};
  fresh.context.device.available_bytes = 1;
  fresh.context.software["git"] = "0123abcd-dirty";
  const ResultDocument document = goes_on(fresh);
  EXPECT_EQ(document.points.size(), 2U);
  EXPECT_EQ(to_json(document)["benchmarks"], to_json(resumable_document())["benchmarks"]);
}

TEST(Resume, KeepsTheRunItBeganAndAddsItsOwnSession) {
  ResultDocument fresh = resumable_document();
  fresh.context.run_id = "fresh";
  fresh.sessions = {{.id = "fresh", .started = "2026-03-02T12:34:56+01:00"}};
  const ResultDocument document = goes_on(fresh);
  EXPECT_EQ(document.context.run_id, resumable_document().context.run_id);
  ASSERT_EQ(document.sessions.size(), 3U);
  EXPECT_EQ(document.sessions.front().id, resumable_document().sessions.front().id);
  EXPECT_EQ(document.sessions.back().id, "fresh");
  EXPECT_EQ(document.points[0].rounds, resumable_document().points[0].rounds);
}

TEST_P(ResumeOfAnother, IsRefusedNamingBothValues) {
  Json changed = to_json(resumable_document());
  changed[GetParam().part][Json::json_pointer(GetParam().pointer)] = GetParam().value;
  const ResultDocument fresh = document_from_json(changed);
  EXPECT_THAT(
      [&] { goes_on(fresh); },
      ThrowsMessage<UsageError>("--resume: the result was measured with another " + GetParam().message +
                                " now; run without --resume to start over (the old file is kept)"));
}

INSTANTIATE_TEST_SUITE_P(
    Run, ResumeOfAnother,
    ::testing::Values(
        Change{"sweep", "/name", "kernels", "sweep: batch there, kernels"},
        Change{"sweep", "/workload", "vgg16", "workload: resnet18 there, vgg16"},
        Change{"sweep", "/mode", "train", "mode: infer there, train"},
        Change{"sweep", "/workload_options/image-size", "32", "option image-size: 224 there, 32"},
        Change{"sweep", "/workload_options/depth", "2", "option depth: nothing there, 2"},
        Change{"context", "/seed", 2, "seed: 9007199254740995 there, 2"},
        Change{"context", "/device/name", "Other", "device: Example CPU 9000 \"β\" there, Other"},
        Change{"context", "/host/cpu", "Other CPU", "machine: Example CPU 9000 there, Other CPU"},
        Change{"context", "/host/usable_cores", 8, "number of usable cores: 2 there, 8"},
        Change{"context", "/software/onednn", "3.0", "version of onednn: 2.6.3 there, 3.0"},
        Change{"context", "/software/bench", "0.2.0", "version of bench: 0.1.0 there, 0.2.0"}));

class ResumeOfAnotherGraph : public ::testing::Test {
 protected:
  // What a run of net.onnx, whose result is looked for by that name, is refused with; empty: it starts.
  std::string refusal(const std::string& wanted, ResumeReason reason = ResumeReason::requested) const {
    ResultDocument fresh = resumable_document();
    fresh.context.workload_file =
        WorkloadFile{.format = "onnx", .path = "my nets/net.onnx", .name = "net", .hash = "0123abcd"};
    try {
      EXPECT_FALSE(take_over(folder_.path() / wanted, {}, reason, fresh));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_;
};

TEST_F(ResumeOfAnotherGraph, IsRefusedNamingBothGraphs) {
  const fs::path other = folder_.path() / "batch-net-9876fedc-cpu.json";
  write_file(other, "{}");
  EXPECT_EQ(
      refusal("batch-net-0123abcd-cpu.json"),
      "--resume: the graph of 'my nets/net.onnx' has changed: " + other.string() +
          " was measured with 9876fedc, now it is 0123abcd; run without --resume to start over (the old "
          "file is kept)");
  EXPECT_EQ(refusal("batch-net-0123abcd-cpu.json", ResumeReason::device_lost), "");
}

TEST_F(ResumeOfAnotherGraph, ResultsOfOtherNamesAreNotTakenForIt) {
  for (const char* const name :
       {"memory-net-9876fedc-cpu.json", "batch-net-9876fedc-cuda-0.json", "batch-net-9876fedX-cpu.json",
        "batch-network-9876fedc-cpu.json", "batch-net-cpu.json", ".batch-net-9876fedc-cpu.json.lock"}) {
    write_file(folder_.path() / name, "{}");
  }
  EXPECT_EQ(refusal("batch-net-0123abcd-cpu.json"), "");
}

TEST(ShellCommand, IsTheCommandLine) {
  EXPECT_EQ(shell_command({"my bench", "--sweep", "cards"}), "'my bench' --sweep cards");
}

TEST(CommandToResume, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(command_to_resume({"bench", "--onnx", "net.onnx"}), "bench --onnx net.onnx --resume");
  EXPECT_EQ(command_to_resume({"bench", "--onnx", "my $(net)'s.onnx", "--resume"}),
            R"(bench --onnx 'my $(net)'\''s.onnx' --resume)");
  EXPECT_EQ(command_to_resume({"bench", "--onnx", "n\x1b[31me't\n\\\xff.onnx"}),
            R"(bench --onnx $'n\x1b[31me\'t\x0a\\\xff.onnx' --resume)");
}

// The fresh process would not know of it.
TEST(StartAgain, NotAfterAnInterrupt) {
  constexpr int kNotStarted = 42;
  const int status = testing::status_of([] {
    install_interrupt_handlers();
    ::raise(SIGTERM);
    start_again({"tests", "--gtest_filter=NONE"});
    ::_exit(kNotStarted);
  });
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), kNotStarted);
}

}  // namespace
}  // namespace bench
