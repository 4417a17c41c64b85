#include "bench/evaluate/prices.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

constexpr std::string_view kPriceForms =
    "give a device and 0.35/h (hire) or 280 (purchase): t4=0.35/h,rtx3060-12gb=280";

std::string_view without_spaces(std::string_view text) {
  while (text.starts_with(' ')) {
    text.remove_prefix(1);
  }
  while (text.ends_with(' ')) {
    text.remove_suffix(1);
  }
  return text;
}

// A sign, or three capital letters.
std::optional<std::string_view> currency_at(std::string_view text, bool at_start) {
  constexpr std::array<std::string_view, 4> kSigns{"$", "€", "£", "¥"};
  for (const std::string_view sign : kSigns) {
    if (at_start ? text.starts_with(sign) : text.ends_with(sign)) {
      return sign;
    }
  }
  constexpr std::size_t kLetters = 3;
  if (text.size() <= kLetters) {
    return std::nullopt;
  }
  const std::string_view code = at_start ? text.substr(0, kLetters) : text.substr(text.size() - kLetters);
  const bool is_code = std::ranges::all_of(code, [](char c) { return c >= 'A' && c <= 'Z'; });
  return is_code ? std::optional(code) : std::nullopt;
}

struct ReadPrice {
  Price price;
  std::string currency;
};

ReadPrice read_price(std::string_view part, std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    throw UsageError(fmt::format("--price: {} {}; {}", quote(part), why, kPriceForms));
  };
  ReadPrice read;
  for (const std::string_view hire : {"/h", "/hour"}) {
    if (!read.price.is_hire && text.ends_with(hire)) {
      read.price.is_hire = true;
      text.remove_suffix(hire.size());
    }
  }
  text = without_spaces(text);
  for (const bool at_start : {true, false}) {
    const std::optional<std::string_view> currency = currency_at(text, at_start);
    if (currency && read.currency.empty()) {
      read.currency = *currency;
      at_start ? text.remove_prefix(currency->size()) : text.remove_suffix(currency->size());
      text = without_spaces(text);
    }
  }
  const std::optional<double> amount = positive_number(text);
  if (!amount) {
    refuse("has no positive price");
  }
  read.price.amount = *amount;
  if (!read.price.is_hire && *amount < kLeastPurchase) {
    refuse(fmt::format("may be hire or purchase (a purchase costs at least {})", kLeastPurchase));
  }
  return read;
}

void add_price(PriceList& list, const std::string& device, const Price& price) {
  if (!list.by_device.emplace(device, price).second) {
    throw UsageError(fmt::format("--price: {} is given twice; give it once", quote(device)));
  }
}

// "t4=0,35/h": a number goes on after the comma.
void refuse_comma_in_number(std::string_view text, std::size_t begin, std::size_t comma) {
  const auto is_digit = [&](std::size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  const std::size_t end = std::min(text.find(',', comma + 1), text.size());
  const bool starts_entry = text.substr(0, end).find('=', comma) != std::string_view::npos;
  if (comma > begin && is_digit(comma - 1) && is_digit(comma + 1) && !starts_entry) {
    throw UsageError(
        fmt::format("--price: {}: a comma separates entries; write numbers without one, as 0.35/h or 1200",
                    quote(text.substr(begin, end - begin))));
  }
}

}  // namespace

PriceList parse_prices(std::string_view text) {
  PriceList list;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const std::size_t equals = part.rfind('=');
    if (equals != std::string_view::npos) {
      refuse_comma_in_number(text, begin, end);
    }
    begin = end + 1;
    if (equals == std::string_view::npos && !part.empty() &&
        std::isdigit(static_cast<unsigned char>(part[0])) == 0) {
      throw UsageError(fmt::format("--price: {} has no price; {}", quote(part), kPriceForms));
    }
    if (equals == std::string_view::npos || equals == 0) {
      throw UsageError(fmt::format("--price: {} names no device; {}", quote(part), kPriceForms));
    }
    const ReadPrice read = read_price(part, without_spaces(part.substr(equals + 1)));
    const std::string device(without_spaces(part.substr(0, equals)));
    add_price(list, device, read.price);
    if (!read.currency.empty() && !list.currency.empty() && read.currency != list.currency) {
      throw UsageError(fmt::format("--price: {} and {} are given; give all prices in one currency",
                                   list.currency, read.currency));
    }
    list.currency = read.currency.empty() ? list.currency : read.currency;
  }
  return list;
}

PriceList renamed(PriceList list, const std::function<std::string(const std::string&)>& name_of) {
  const std::map<std::string, Price> given = std::exchange(list.by_device, {});
  for (const auto& [device, price] : given) {
    add_price(list, name_of(device), price);
  }
  return list;
}

double hours_of_use(const PriceList& list) {
  constexpr double kDaysAYear = 365;
  return list.years * kDaysAYear * list.hours_a_day;
}

double cost_per_hour(const Price& price, const PriceList& list, std::optional<double> power_w) {
  if (price.is_hire) {
    return price.amount;
  }
  const double energy = list.kwh && power_w ? *list.kwh * *power_w / 1000 : 0;
  return price.amount / hours_of_use(list) + energy;
}

std::optional<double> positive_number(std::string_view text) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  const bool whole = read.ec == std::errc{} && read.ptr == text.data() + text.size();
  return whole && std::isfinite(value) && value > 0 ? std::optional(value) : std::nullopt;
}

double parse_positive(std::string_view option, std::string_view text, double most) {
  const std::optional<double> value = positive_number(text);
  if (!value || *value > most) {
    throw UsageError(
        fmt::format("{}: {} is not accepted; give a number above 0 and up to {}", option, quote(text), most));
  }
  return *value;
}

}  // namespace bench
