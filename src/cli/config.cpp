// `atoll config`: the flags with which other build systems compile and link programs.
#include <cstdio>

#include "atoll/version.hpp"
#include "cli/command/command.hpp"
#include "cli/config.hpp"
#include "cli/installed_tree.hpp"

namespace atl::cli {
namespace {

constexpr const char* usage =
    "usage: atoll config (--cxx | --shmem | --nvshmem) [--cflags] [--libs]\n"
    "       atoll config (--cxx | --shmem | --nvshmem) (--home | --prefix)\n"
    "       atoll config (--nvshmem-home | --version)\n\n"
    "Prints the flags that a compiler needs for a program of Atoll's C++ API (--cxx), of OpenSHMEM (--shmem) "
    "or of\n"
    "NVSHMEM's host functions (--nvshmem): those that compile (--cflags), those that link (--libs), or both. "
    "Without\n"
    "these two options it prints both. The C++ API needs -std=c++20 or newer, which you choose yourself.\n"
    "--home or --prefix prints the folder that holds include and lib. --nvshmem-home is short for --nvshmem "
    "--home:\n"
    "the folder that Makefiles of NVSHMEM's programs take as NVSHMEM_HOME. --version prints Atoll's "
    "version.\n\n"
    "For example: c++ -std=c++20 prog.cpp $(atoll config --cxx) -o prog\n";

struct Library {
    const char* option;
    const char* name;
    const char* folder;  ///< in the installed tree; it holds include and lib
};
constexpr Library libraries[] = {
    {"--cxx", "atoll", ""}, {"--shmem", "atoll_shmem", ""}, {"--nvshmem", "nvshmem_host", "/nvshmem"}};

std::string tree() {
    const std::string found = installed_tree();
    if (!found.empty()) return found;
    throw UsageError("there is no include/shmem.h beside " + executable_folder() +
                     "; install Atoll by `cmake --install` or pip, and use that launcher");
}

struct Choice {
    const Library* library = nullptr;
    bool cflags = false, libs = false, home = false, help = false, version = false;
};

const Library* library_of(const std::string& option) {
    for (const Library& each : libraries)
        if (option == each.option) return &each;
    return nullptr;
}

void name_library(Choice& choice, const std::string& option) {
    const Library* named = library_of(option);
    if (named == nullptr) throw UsageError("`" + option + "` is unknown\n" + usage);
    if (choice.library != nullptr && choice.library != named)
        throw UsageError("`" + std::string(choice.library->option) + "` and `" + option +
                         "` were given: name one, whose flags are printed\n" + usage);
    choice.library = named;
}

Choice read(const Arguments& arguments) {
    Choice choice;
    for (const std::string& argument : arguments) {
        if (argument == "--nvshmem-home") {
            name_library(choice, "--nvshmem");
            choice.home = true;
        } else if (argument == "--cflags") {
            choice.cflags = true;
        } else if (argument == "--libs") {
            choice.libs = true;
        } else if (argument == "--home" || argument == "--prefix") {
            choice.home = true;
        } else if (argument == "--help" || argument == "-h") {
            choice.help = true;
        } else if (argument == "--version") {
            choice.version = true;
        } else {
            name_library(choice, argument);
        }
    }
    if (choice.home && (choice.cflags || choice.libs))
        throw UsageError(std::string("a folder and flags were asked for: ask for one of them\n") + usage);
    return choice;
}

}  // namespace

int config_command(const Arguments& given) {
    const Choice choice = read(given);
    if (choice.help) {
        std::fputs(usage, stdout);
        return 0;
    }
    if (choice.version) {
        std::puts(ATOLL_VERSION);
        return 0;
    }
    if (choice.library == nullptr)
        throw UsageError(std::string("name one of --cxx, --shmem and --nvshmem, whose flags differ\n") +
                         usage);
    const std::string root = tree() + choice.library->folder, lib = root + "/lib";
    const std::string compile = "-I" + root + "/include";
    const std::string link =
        "-L" + lib + " -Xlinker -rpath=" + lib + " -l" + choice.library->name;  // nvcc knows no -Wl
    const std::string text = choice.home                    ? root
                             : choice.cflags == choice.libs ? compile + " " + link
                             : choice.cflags                ? compile
                                                            : link;
    std::puts(text.c_str());
    return 0;
}

}  // namespace atl::cli
