#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "cli/cli.hpp"
#include "cli/command/memory_file.hpp"
#include "cli/command/package.hpp"
#include "cli/command/parse.hpp"
#include "cli/trace/page/page_data.hpp"
#include "cli/trace/perfetto.hpp"
#include "cli/trace/perfetto_format.hpp"
#include "cli/trace/report.hpp"
#include "common/text.hpp"

namespace atl::cli {
namespace {

constexpr const char* report_usage =
    " (usage: atoll report FILE [--html PAGE | --picture FILE], or atoll report --compare FILE OTHER [--html "
    "PAGE])";

/// Writes a file. Throws a sentence if not all of it was written.
void write_page(const std::string& path, const std::string& text) {
    perfetto::File file(std::fopen(path.c_str(), "we"));
    if (!file)
        throw UsageError("--html " + path + " cannot be written: " + std::strerror(errno) +
                         "; expected the name of a file for the page, such as report.html");
    const bool is_whole =
        std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() && std::fflush(file.get()) == 0;
    if (!is_whole || std::fclose(file.release()) != 0)
        throw std::runtime_error(path + " is incomplete: " + std::strerror(errno));
    std::printf("%s: %s; open it in a browser\n", path.c_str(), common::bytes_text(text.size()).c_str());
}

/// A page or picture must not replace the trace from which it is made.
void check_output(const std::string& option, const std::string& path, const std::string& trace,
                  const std::string& example) {
    std::error_code none;
    if (!path.empty() && std::filesystem::equivalent(path, trace, none))
        throw UsageError(option + " " + path + " is the trace itself; expected another file, such as " +
                         example);
}

void check_picture(const std::string& path) {
    if (path.empty() || path.ends_with(".png") || path.ends_with(".svg") || path.ends_with(".pdf")) return;
    throw UsageError("--picture " + path +
                     ": expected the name of a picture that ends with .png, .svg or .pdf");
}

/// Becomes the program that draws. It gets the page's data on its standard input.
[[noreturn]] void draw(const std::string& path, const PageSource& source) {
    const std::string data =
        page_data(source).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    const common::Fd file = memory_file("atoll-report", data);
    if (!file || dup2(file.get(), STDIN_FILENO) < 0)
        throw std::runtime_error(std::string("--picture lacks memory for its data: ") + std::strerror(errno));
    become_module("atoll._picture", {path}, "--picture", "--html writes a page and needs no Python");
}

}  // namespace

int report_command(const Arguments& arguments) {
    std::string page, picture;
    Arguments files;
    bool compares = false;
    CLI::App app("Summarizes a file of `atoll run --trace` or --record, or compares two.", "atoll report");
    app.add_option("FILE", files, "the trace; two with --compare")->required()->expected(1, 2)->type_name("");
    app.add_flag("--compare", compares, "print what differs from the first file to the second");
    app.add_option("--html", page,
                   "write a page with pictures to this file instead, for any browser: time line, traffic, "
                   "late PEs")
        ->type_name("PAGE");
    app.add_option("--picture", picture,
                   "draw time line and matrices to this .png, .svg or .pdf file instead; needs matplotlib")
        ->type_name("FILE");
    if (!parse(app, arguments, report_usage)) return 0;
    check_picture(picture);
    if (!picture.empty() && (compares || !page.empty()))
        throw UsageError(std::string("--picture draws one trace; leave out ") +
                         (compares ? "--compare" : "--html") + report_usage);
    if (files.size() != (compares ? 2 : 1))
        throw UsageError(
            std::string(compares ? "--compare needs two files" : "expected one file; two go with --compare") +
            report_usage);

    std::vector<JobTrace> traces;
    std::vector<Summary> summaries;
    for (const std::string& file : files) {
        check_output("--html", page, file, "report.html");
        check_output("--picture", picture, file, "report.svg");
        traces.push_back(read_perfetto(file));
        summaries.push_back(summary_of(traces.back()));
    }
    const auto title = [&](std::size_t i) { return std::string(common::file_name(files[i])); };
    if (!picture.empty()) draw(picture, {title(0), traces[0], summaries[0], "", nullptr});
    if (!page.empty())
        write_page(page, page_of({title(0), traces[0], summaries[0], compares ? title(1) : "",
                                  compares ? &summaries[1] : nullptr}));
    else if (compares)
        std::fputs(compare_text({title(0), summaries[0]}, {title(1), summaries[1]}).c_str(), stdout);
    else
        std::fputs(report_text(summaries[0]).c_str(), stdout);
    check_stdout();
    return 0;
}

}  // namespace atl::cli
