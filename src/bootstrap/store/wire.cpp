#include "bootstrap/store/wire.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <sstream>
#include <unordered_map>

#include "bootstrap/fail.hpp"
#include "common/hashes/hmac.hpp"

namespace atl::bootstrap {

constexpr std::size_t header_bytes = sizeof(std::uint32_t) + 1;

std::string encode(char type, std::string_view body) {
    const auto length = static_cast<std::uint32_t>(body.size());
    std::string frame(sizeof length, '\0');
    std::memcpy(frame.data(), &length, sizeof length);
    frame += type;
    return frame.append(body);
}

std::string encode_hello(const Hello& hello, const std::string& secret, const std::string& number) {
    std::string body = std::to_string(hello.pe) + " " + std::to_string(hello.n_pes) + " " +
                       std::to_string(hello.pid) + " " + hello.release + " " + hello.host + " " +
                       hello.number + '\0' + hello.settings;
    const std::string proof = common::hmac_sha256(secret, "client " + number + " " + body);
    return proof + body;
}

std::optional<Hello> decode_hello(const std::string& body, const std::string& secret,
                                  const std::string& number, bool& proven) {
    constexpr std::size_t proof_digits = 64;
    if (body.size() < proof_digits) return std::nullopt;
    const std::string payload = body.substr(proof_digits);
    const auto [fields, settings] = split(payload);
    Hello hello;
    hello.settings = settings;
    std::istringstream words(fields);
    if (!(words >> hello.pe >> hello.n_pes >> hello.pid >> hello.release >> hello.host >> hello.number))
        return std::nullopt;
    proven = common::equal_secrets(body.substr(0, proof_digits),
                                   common::hmac_sha256(secret, "client " + number + " " + payload));
    return hello;
}

std::string server_proof(const Hello& hello, const std::string& secret) {
    return common::hmac_sha256(secret, "server " + hello.number);
}

bool FrameReader::take_greeting() {
    const std::size_t come = std::min(buffer_.size(), greeting.size());
    if (buffer_.compare(0, come, greeting.substr(0, come)) != 0) broken_ = true;
    if (broken_ || come < greeting.size()) return false;
    buffer_.erase(0, greeting.size());
    return greeted_ = true;
}

std::optional<Frame> FrameReader::next() {
    if (broken_ || (!greeted_ && !take_greeting()) || buffer_.size() < header_bytes) return std::nullopt;
    std::uint32_t length = 0;
    std::memcpy(&length, buffer_.data(), sizeof length);
    if (length > limit_) {
        broken_ = true;
        return std::nullopt;
    }
    if (buffer_.size() < header_bytes + length) return std::nullopt;
    Frame frame{buffer_[sizeof length], buffer_.substr(header_bytes, length)};
    buffer_.erase(0, header_bytes + length);
    return frame;
}

namespace {

/// A run of equal values: its length, and the index of the value among the distinct ones so far. For a new
/// value, its length and bytes follow.
struct Run {
    std::uint32_t count = 0, which = 0;
};

template <class T> void append(std::string& packed, const T& number) {
    packed.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <class T> bool take(std::string_view& packed, T& number) {
    if (packed.size() < sizeof number) return false;
    std::memcpy(&number, packed.data(), sizeof number);
    packed.remove_prefix(sizeof number);
    return true;
}

}  // namespace

std::string pack(const std::vector<std::string>& values) {
    std::string packed;
    std::unordered_map<std::string_view, std::uint32_t> known;
    for (std::size_t at = 0; at < values.size();) {
        const auto [found, is_new] = known.try_emplace(values[at], static_cast<std::uint32_t>(known.size()));
        Run run{0, found->second};
        const std::string& value = values[at];
        for (; at < values.size() && values[at] == value; ++at) ++run.count;
        append(packed, run);
        if (!is_new) continue;
        append(packed, static_cast<std::uint32_t>(value.size()));
        packed += value;
    }
    return packed;
}

std::vector<std::string> unpack(const std::string& packed, int count) {
    std::vector<std::string> values;
    std::vector<std::string_view> known;
    const auto most = static_cast<std::size_t>(count);
    std::string_view rest = packed;
    const auto take_run = [&] {
        Run run;
        if (!take(rest, run)) return false;
        if (run.which == known.size()) {
            std::uint32_t length = 0;
            if (!take(rest, length) || rest.size() < length) return false;
            known.push_back(rest.substr(0, length));
            rest.remove_prefix(length);
        }
        if (run.which >= known.size() || run.count > most - values.size()) return false;
        values.insert(values.end(), run.count, std::string(known[run.which]));
        return true;
    };
    bool readable = true;
    while (readable && !rest.empty()) readable = take_run();
    if (!readable || values.size() != most)
        throw_bootstrap("The values of " + std::to_string(count) +
                        " PEs came in a form that this release does not read; are all of one release?");
    return values;
}

std::string encode_doing(const common::PeDoing& doing) {
    std::ostringstream head;
    head.precision(std::numeric_limits<double>::max_digits10);
    head << static_cast<unsigned>(doing.state) << ' ' << doing.waits << ' ' << doing.seconds << ' '
         << doing.mark << ' ' << doing.process << ' ' << doing.pid << ' ' << doing.cpu_s << ' '
         << doing.coreless_s << ' ' << doing.text.size() << ' ' << doing.site.size() << ' '
         << doing.calls.size() << ' ' << doing.signals.size() << ' ' << doing.signals_lost << ' '
         << doing.writes.size() << ' ' << doing.writes_lost;
    std::string body = head.str() + '\0' + doing.text + doing.site;
    append(body, doing.wait);
    for (const common::CallSeen& call : doing.calls) append(body, call);
    for (const common::UpdateSeen& signal : doing.signals) append(body, signal);
    for (const common::UpdateSeen& write : doing.writes) append(body, write);
    return body;
}

common::PeDoing decode_doing(const std::string& body) {
    const auto [head, rest] = split(body);
    std::istringstream fields(head);
    unsigned state = 0;
    std::size_t text_bytes = 0, site_bytes = 0, calls = 0, signals = 0, writes = 0;
    common::PeDoing doing;
    fields >> state >> doing.waits >> doing.seconds >> doing.mark >> doing.process >> doing.pid >>
        doing.cpu_s >> doing.coreless_s >> text_bytes >> site_bytes >> calls >> signals >>
        doing.signals_lost >> writes >> doing.writes_lost;
    doing.state = static_cast<common::PeState>(state);
    std::string_view left = rest;
    const auto take_text = [&](std::size_t bytes) {
        const std::string_view text = left.substr(0, bytes);
        left.remove_prefix(text.size());
        return std::string(text);
    };
    doing.text = take_text(text_bytes);
    doing.site = take_text(site_bytes);
    if (!take(left, doing.wait)) return doing;
    for (common::CallSeen call; calls-- > 0 && take(left, call);) doing.calls.push_back(call);
    for (common::UpdateSeen signal; signals-- > 0 && take(left, signal);) doing.signals.push_back(signal);
    for (common::UpdateSeen write; writes-- > 0 && take(left, write);) doing.writes.push_back(write);
    return doing;
}

std::pair<std::string, std::string> split(const std::string& body) {
    const std::size_t nul = body.find('\0');
    if (nul == std::string::npos) return {body, {}};
    return {body.substr(0, nul), body.substr(nul + 1)};
}

}  // namespace atl::bootstrap
