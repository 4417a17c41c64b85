// Checks text against results/schema.json, or against another schema.
// BENCH_TEST_SOURCE_DIR is the source tree's root.
#pragma once

#include <fstream>
#include <map>
#include <string>

#include <nlohmann/json.hpp>
// GCC 12 sees overlapping copies in std::string's operator+ where there are none (GCC bug 105651).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wrestrict"
#endif
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace bench::testing {

inline constexpr const char* kEarlierSchema = BENCH_TEST_SOURCE_DIR "/tests/bench/run/golden/schema-1.json";
inline constexpr const char* kCompareSchema = BENCH_TEST_SOURCE_DIR "/results/compare-schema.json";
inline constexpr const char* kEvaluateSchema = BENCH_TEST_SOURCE_DIR "/results/evaluate-schema.json";

// Each file is parsed once.
inline const valijson::Schema& parsed_schema(const std::string& file) {
  static std::map<std::string, valijson::Schema> parsed;
  const auto [at, absent] = parsed.try_emplace(file);
  if (absent) {
    std::ifstream stream(file);
    const nlohmann::json json = nlohmann::json::parse(stream);
    valijson::SchemaParser parser;
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(json), at->second);
  }
  return at->second;
}

// Empty where the text follows the schema; else what does not, with its place.
inline std::string schema_errors(const std::string& text,
                                 const char* schema_file = BENCH_TEST_SOURCE_DIR "/results/schema.json") {
  // Strict parsing also refuses NaN and Infinity, which are not JSON.
  const nlohmann::json document = nlohmann::json::parse(text);
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  valijson::ValidationResults results;
  std::string errors;
  if (!validator.validate(parsed_schema(schema_file), valijson::adapters::NlohmannJsonAdapter(document),
                          &results)) {
    valijson::ValidationResults::Error error;
    while (results.popError(error)) {
      for (const std::string& place : error.context) {
        errors += place;
      }
      errors += ": " + error.description + "\n";
    }
  }
  return errors;
}

}  // namespace bench::testing
