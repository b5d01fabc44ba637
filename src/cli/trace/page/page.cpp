// The page is our own 500 lines of JavaScript on canvas and SVG, without a library of charts. Time line and
// matrices would not use one: they are pictures of up to a million values. Debian's d3 (version 3) or
// Chart.js would have to be on each machine that builds Atoll, or there would be two kinds of pages.
#include "cli/trace/page/page.hpp"

#include "cli/trace/page/page_data.hpp"

#include <utility>

namespace atl::cli {
namespace {

/// JSON for a <script>. The text is data between tags, so "</script>" must not occur in it.
std::string embeddable(const nlohmann::ordered_json& data) {
    std::string text;
    for (const char c : data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) {
        if (c == '<')
            text += "\\u003c";  // occurs in texts only, where JSON allows this form
        else
            text += c;
    }
    return text;
}

}  // namespace

std::string page_of(const PageSource& source) {
    const std::string data = embeddable(page_data(source));
    const std::pair<std::string_view, std::string_view> parts[] = {
        {"/*style*/", page_style}, {"/*data*/", data}, {"/*script*/", page_script}};
    std::string page;
    std::string_view rest = page_template;
    for (const auto& [mark, content] : parts) {
        const std::size_t at = rest.find(mark);
        page += rest.substr(0, at);
        page += content;
        rest = rest.substr(at + mark.size());
    }
    return page += rest;
}

}  // namespace atl::cli
