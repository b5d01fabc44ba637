// Signatures of the module's functions as text, checked while compiling.
#pragma once

#include <cstddef>
#include <string_view>

namespace atl::python {

/// The end of the parameter that starts at `from`: a comma or the closing parenthesis outside brackets.
constexpr std::size_t parameter_end(std::string_view text, std::size_t from) {
    int depth = 0;
    for (std::size_t i = from; i < text.size(); ++i) {
        if (text[i] == '[' || text[i] == '(') ++depth;
        if (depth == 0 && (text[i] == ',' || text[i] == ')')) return i;
        if (text[i] == ']' || text[i] == ')') --depth;
    }
    return text.size();
}

constexpr std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

/// Calls `visit` with each parameter of a signature's first line, and with "*" between positional and
/// keyword-only ones.
template <class Visit> constexpr void for_each_parameter(std::string_view signature, Visit&& visit) {
    signature = signature.substr(0, signature.find('\n'));
    for (std::size_t at = 1; at < signature.size() && signature[at - 1] != ')';) {
        const std::size_t end = parameter_end(signature, at);
        const std::string_view parameter = trimmed(signature.substr(at, end - at));
        if (!parameter.empty()) visit(parameter);
        at = end + 1;
    }
}

constexpr int parameters_in(std::string_view signature) {
    int n = 0;
    for_each_parameter(signature, [&](std::string_view parameter) { n += parameter != "*"; });
    return n;
}

/// Not defined: a call makes a constant expression ill-formed, and the compiler prints the name.
void the_signature_has_another_number_of_parameters();

/// The signature of a function with N parameters: Python's text with types. Its first line is the one that
/// runs; further lines are the overloads that type checkers see.
template <int N> struct Signature {
    const char* text;

    consteval Signature(const char* written) : text(written) {  // implicit, for rows of tables
        if (parameters_in(written) != N) the_signature_has_another_number_of_parameters();
    }
};

/// A text composed while compiling, terminated by 0.
template <std::size_t Capacity> struct ConstantText {
    char data[Capacity] = {};
    std::size_t size = 0;

    constexpr ConstantText& operator+=(std::string_view part) {
        for (const char c : part) data[size++] = c;  // past the end it does not compile
        return *this;
    }
};

}  // namespace atl::python
