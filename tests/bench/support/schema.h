// Checks text against results/schema.json, or against another schema.
// BENCH_TEST_SOURCE_DIR is the source tree's root.
#pragma once

#include <string>

namespace bench::testing {

inline constexpr const char* kCompareSchema = BENCH_TEST_SOURCE_DIR "/results/compare-schema.json";
inline constexpr const char* kPredictCardsSchema = BENCH_TEST_SOURCE_DIR "/results/predict-cards-schema.json";
inline constexpr const char* kEvaluateSchema = BENCH_TEST_SOURCE_DIR "/results/evaluate-schema.json";

// Empty where the text follows the schema; else what does not, with its place.
std::string schema_errors(const std::string& text,
                          const char* schema_file = BENCH_TEST_SOURCE_DIR "/results/schema.json");

}  // namespace bench::testing
