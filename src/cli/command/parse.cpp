#include "cli/command/parse.hpp"

#include <algorithm>
#include <iostream>

namespace atl::cli {

static std::string text_of(const CLI::ParseError& error) {
    static const std::string theirs = "was given a disallowed flag override";
    std::string text = error.what();
    const std::size_t at = text.find(theirs);
    if (at != std::string::npos) return "--" + text.substr(0, at) + "takes no value";
    return text;
}

bool parse(CLI::App& app, Arguments arguments, const std::string& hint) {
    try {
        std::reverse(arguments.begin(), arguments.end());  // CLI11 expects them in reverse
        for (CLI::Option* option : app.get_options()) option->disable_flag_override();  // no --pdb=3
        app.parse(arguments);
        return true;
    } catch (const CLI::CallForHelp&) {
        std::cout << app.help();
        return false;
    } catch (const CLI::ParseError& error) {
        throw UsageError(text_of(error) + hint);
    }
}

}  // namespace atl::cli
