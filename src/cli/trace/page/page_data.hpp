// The data of the report's page. page.js explains how it reads them.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/trace/page/page.hpp"

namespace atl::cli {

/// Rows of the page's pictures: a PE each, or as many neighbours as keep the number of rows small.
class PageRows {
  public:
    explicit PageRows(const JobTrace& trace);
    std::size_t count() const { return count_; }
    int width() const { return width_; }
    std::size_t row_of(int pe) const { return static_cast<std::size_t>(pe / width_); }

  private:
    int width_ = 1;
    std::size_t count_ = 0;
};

nlohmann::ordered_json page_data(const PageSource& source);

}  // namespace atl::cli
