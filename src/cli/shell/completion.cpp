#include "cli/shell/completion.hpp"

#include <cstdio>

#include "cli/command/parse.hpp"

namespace atl::cli {
int completion_command(const Arguments& arguments) {
    std::string shell;
    CLI::App app("Prints the completion of atoll for a shell.", "atoll completion");
    app.add_option("SHELL", shell, "bash, zsh or fish")->required()->type_name("");
    app.footer(
        "For bash: source <(atoll completion bash), also in ~/.bashrc.\n"
        "For zsh, behind compinit in ~/.zshrc: source <(atoll completion zsh).\n"
        "For fish: atoll completion fish > ~/.config/fish/completions/atoll.fish.");
    if (!parse(app, arguments, " (usage: atoll completion bash|zsh|fish)")) return 0;
    const std::string_view script = shell == "bash"   ? bash_script
                                    : shell == "zsh"  ? zsh_script
                                    : shell == "fish" ? fish_script
                                                      : "";
    if (script.empty()) throw UsageError(shell + ": there is a completion for bash, zsh and fish");
    std::fwrite(script.data(), 1, script.size(), stdout);
    check_stdout();
    return 0;
}

}  // namespace atl::cli
