#include "cli/output/tracebacks.hpp"

#include <algorithm>
#include <utility>

#include "common/pe_ranges.hpp"

namespace atl::cli {
namespace {

constexpr std::string_view first_line = "Traceback (most recent call last):\n";
/// The beginning of the report of a syntax error in the program itself, which has no first line.
constexpr std::string_view frame_begin = "  File \"";
constexpr std::string_view syntax_errors[] = {"SyntaxError", "IndentationError", "TabError"};
/// The end of headings of other lists of frames, such as faulthandler's.
constexpr std::string_view heading = " (most recent call first):\n";
// The text between the traceback of an exception and that of the exception that it caused.
constexpr std::string_view links[] = {
    "\nThe above exception was the direct cause of the following exception:\n\n",
    "\nDuring handling of the above exception, another exception occurred:\n\n",
};
// A program that prints more after a traceback does not wait for others to print the same.
constexpr std::size_t most_kept_bytes = 64 * 1024;
/// A longer line is no heading.
constexpr std::size_t most_begun_bytes = 1024;

/// The first line of `text` with its end; all of `text` if that line is unfinished.
std::string_view next_line(std::string_view text) {
    const std::size_t end = text.find('\n');
    return end == std::string_view::npos ? text : text.substr(0, end + 1);
}

/// The length of the lines at the beginning of `text` that begin with a space.
std::size_t indented_length(std::string_view text) {
    std::size_t length = 0;
    while (text.substr(length).starts_with(' ')) length += next_line(text.substr(length)).size();
    return length;
}

/// The length of the traceback at the beginning of `text`, together with those of the exceptions that caused
/// it.
std::size_t traceback_length(std::string_view text) {
    std::size_t length = 0;
    if (text.starts_with(frame_begin)) {
        length = indented_length(text);
        const std::string_view last = next_line(text.substr(length));
        const bool is_error = std::any_of(std::begin(syntax_errors), std::end(syntax_errors),
                                          [&](std::string_view name) { return last.starts_with(name); });
        return is_error ? length + last.size() : length;
    }
    while (text.substr(length).starts_with(first_line)) {
        length += first_line.size();
        length += indented_length(text.substr(length));
        length += next_line(text.substr(length)).size();  // the exception
        for (const std::string_view link : links) {
            const std::string_view rest = text.substr(length);
            if (rest.starts_with(link) && rest.substr(link.size()).starts_with(first_line))
                length += link.size();
        }
    }
    return length;
}

/// The texts of one PE: a traceback that other PEs may have printed too, or the output after it.
struct Parts {
    int pe;
    bool is_traceback;
    std::string same, rest;
};

Parts split(const Traceback& one) {
    const std::size_t length = traceback_length(one.text);
    if (length > 0) return {one.pe, true, one.text.substr(0, length), one.text.substr(length)};
    const std::size_t number = ("PE " + std::to_string(one.pe)).size();
    const std::size_t line = next_line(one.text).size();
    return {one.pe, false, one.text.substr(number, line - number), one.text.substr(line)};
}

/// Completes the texts of PEs that ended while they printed, if another PE printed the whole.
void complete(std::vector<Parts>& all) {
    for (Parts& one : all) {
        const std::string_view last =
            std::string_view(one.same).substr(one.same.rfind('\n', one.same.size() - 2) + 1);
        if (!one.is_traceback || !one.rest.empty() || !last.starts_with(' ')) continue;
        const auto whole = std::find_if(all.begin(), all.end(), [&](const Parts& other) {
            return other.same.size() > one.same.size() && other.same.starts_with(one.same);
        });
        if (whole != all.end()) one.same = whole->same;
    }
}

MergedTraceback merge_alike(const std::vector<Parts>& alike, bool names_each) {
    MergedTraceback merged;
    for (const Parts& one : alike) merged.pes.push_back(one.pe);
    std::sort(merged.pes.begin(), merged.pes.end());
    const std::string pes = "PE " + common::pe_ranges(merged.pes);
    if (!alike[0].is_traceback)
        merged.text = pes;
    else if (alike.size() > 1 || names_each)
        merged.text = pes + ":\n";
    merged.text += alike[0].same;
    const bool same_rest =
        std::all_of(alike.begin(), alike.end(), [&](const Parts& one) { return one.rest == alike[0].rest; });
    for (const Parts& one : alike) {
        merged.text += one.rest;
        if (same_rest) break;
        if (!merged.text.ends_with('\n')) merged.text += '\n';
    }
    if (!merged.text.ends_with('\n')) merged.text += '\n';
    return merged;
}

}  // namespace

TracebackReader::TracebackReader(int pe) : pe_(pe), stopped_("PE " + std::to_string(pe) + " stopped") {}

void TracebackReader::feed(std::string_view data, std::string& passed) {
    partial_.append(data);
    std::string_view rest = partial_;
    for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1))
        take_line(rest.substr(0, end + 1), passed);
    std::string left(rest);
    if (state_ == State::outside && !may_begin(left)) {
        passed += left;
        if (begun_.size() < most_begun_bytes) begun_ += left;
        left.clear();
    }
    partial_ = std::move(left);
    if (text_.size() + partial_.size() > most_kept_bytes) passed += take();
}

void TracebackReader::take_line(std::string_view line, std::string& passed) {
    const bool is_frame =
        state_ == State::outside && !in_list_ && begun_.empty() && line.starts_with(frame_begin);
    if (is_frame || line == first_line) {
        state_ = State::frames;
    } else if (state_ == State::frames) {
        if (line[0] != ' ') state_ = State::behind;
    } else if (state_ == State::outside) {
        if (!line.starts_with(stopped_)) {
            passed += line;
            begun_ += line;
            in_list_ = begun_.ends_with(heading) || (in_list_ && begun_.starts_with(' '));
            begun_.clear();
            return;
        }
        state_ = State::behind;
    }
    text_ += line;
}

bool TracebackReader::may_begin(std::string_view part) const {
    const auto fits = [&](std::string_view whole) {
        return whole.starts_with(part) || part.starts_with(whole);
    };
    return !part.empty() && (first_line.starts_with(part) || fits(stopped_) || fits(frame_begin));
}

void TracebackReader::finish(std::string& passed) {
    if (!withholds()) return;
    passed += partial_;
    partial_.clear();
}

std::string TracebackReader::take() {
    std::string all = std::move(text_) + partial_;
    text_.clear();
    partial_.clear();
    state_ = State::outside;
    return all;
}

std::vector<MergedTraceback> merge(const std::vector<Traceback>& all, bool names_each) {
    std::vector<Parts> each;
    for (const Traceback& one : all) each.push_back(split(one));
    complete(each);
    std::vector<std::vector<Parts>> groups;
    for (Parts& parts : each) {
        const auto found = std::find_if(groups.begin(), groups.end(), [&](const std::vector<Parts>& group) {
            return group[0].is_traceback == parts.is_traceback && group[0].same == parts.same;
        });
        if (found != groups.end())
            found->push_back(std::move(parts));
        else
            groups.push_back({std::move(parts)});
    }
    std::vector<MergedTraceback> merged;
    for (const std::vector<Parts>& group : groups) merged.push_back(merge_alike(group, names_each));
    return merged;
}

}  // namespace atl::cli
