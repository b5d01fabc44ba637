#include "cli/command/parse.hpp"

#include <algorithm>
#include <iostream>

namespace atl::cli {

bool parse(CLI::App& app, Arguments arguments, const std::string& hint) {
    try {
        std::reverse(arguments.begin(), arguments.end());  // CLI11 expects them in reverse
        app.parse(arguments);
        return true;
    } catch (const CLI::CallForHelp&) {
        std::cout << app.help();
        return false;
    } catch (const CLI::ParseError& error) {
        throw UsageError(error.what() + hint);
    }
}

}  // namespace atl::cli
