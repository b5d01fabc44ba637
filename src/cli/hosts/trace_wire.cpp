#include "cli/hosts/trace_wire.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace atl::cli {
namespace {

using common::LoggedEvent;

constexpr std::size_t chunk_bytes = 1 << 20;

void pack(Packer& packer, const LoggedEvent& event) {
    packer.number(event.kind)
        .number(event.state)
        .number(event.operation)
        .number(event.team)
        .number(event.call)
        .number(event.peer)
        .number(event.began)
        .number(event.ended)
        .number(event.bytes)
        .number(event.place)
        .number(event.value)
        .number(event.waiting)
        .number(event.thread)
        .number(event.site);
}

bool unpack(Unpacker& bytes, LoggedEvent& event) {
    event.kind = bytes.number<common::EventKind>();
    event.state = bytes.number<common::EventState>();
    event.operation = bytes.number<std::uint16_t>();
    event.team = bytes.number<std::uint32_t>();
    event.call = bytes.number<std::uint32_t>();
    event.peer = bytes.number<std::int32_t>();
    event.began = bytes.number<std::uint64_t>();
    event.ended = bytes.number<std::uint64_t>();
    event.bytes = bytes.number<std::uint64_t>();
    event.place = bytes.number<std::uint64_t>();
    event.value = bytes.number<std::uint64_t>();
    event.waiting = bytes.number<std::uint64_t>();
    event.thread = bytes.number<std::uint16_t>();
    event.site = bytes.number<std::uint16_t>();
    return bytes.is_good() && static_cast<std::size_t>(event.kind) < std::size(common::event_names) &&
           static_cast<std::size_t>(event.state) < std::size(common::event_state_names);
}

void pack(Packer& packer, const KernelSlice& slice) {
    packer.text(slice.name)
        .number(slice.operation)
        .number(slice.began)
        .number(slice.ended)
        .number(slice.bytes)
        .number(slice.place)
        .number(slice.value)
        .number(slice.peer)
        .number(slice.gpu)
        .number(slice.block)
        .number(slice.track);
}

bool unpack(Unpacker& bytes, KernelSlice& slice) {
    slice.name = bytes.text();
    slice.operation = bytes.number<std::uint16_t>();
    slice.began = bytes.number<std::uint64_t>();
    slice.ended = bytes.number<std::uint64_t>();
    slice.bytes = bytes.number<std::uint64_t>();
    slice.place = bytes.number<std::uint64_t>();
    slice.value = bytes.number<std::uint64_t>();
    slice.peer = bytes.number<std::int32_t>();
    slice.gpu = bytes.number<std::int32_t>();
    slice.block = bytes.number<std::uint32_t>();
    slice.track = bytes.number<std::uint32_t>();
    return bytes.is_good();
}

void pack(Packer& packer, const std::string& title) { packer.text(title); }

bool unpack(Unpacker& bytes, std::string& title) {
    title = bytes.text();
    return bytes.is_good();
}

void pack(Packer& packer, const std::vector<std::string>& texts) {
    packer.number(static_cast<std::uint32_t>(texts.size()));
    for (const std::string& text : texts) packer.text(text);
}

void unpack(Unpacker& bytes, std::vector<std::string>& texts) {
    for (auto left = bytes.number<std::uint32_t>(); left > 0 && bytes.is_good(); --left)
        texts.push_back(bytes.text());
}

std::string head_of(const PeTrace& pe) {
    Packer packer;
    packer.number(pe.pe).number(pe.pid).number(pe.log.dropped).number(pe.kernels.dropped);
    packer.number(pe.kernels.gpu)
        .number(pe.kernels.clock_error_ns)
        .number(std::uint8_t{pe.kernels.clock_is_assumed});
    pack(packer, pe.log.texts);
    return packer.bytes();
}

bool add_head(const std::string& body, std::vector<PeTrace>& pes) {
    Unpacker bytes(body);
    PeTrace pe;
    pe.pe = bytes.number<int>();
    pe.pid = bytes.number<int>();
    pe.log.dropped = bytes.number<std::uint64_t>();
    pe.kernels.dropped = bytes.number<std::uint64_t>();
    pe.kernels.gpu = bytes.number<int>();
    pe.kernels.clock_error_ns = bytes.number<std::uint64_t>();
    pe.kernels.clock_is_assumed = bytes.number<std::uint8_t>() != 0;
    unpack(bytes, pe.log.texts);
    if (!bytes.is_good() || pe.pe < 0) return false;
    pes.push_back(std::move(pe));
    return true;
}

template <class Item>
bool send_all(const std::vector<Item>& items, char type,
              const std::function<bool(char, const std::string&)>& send) {
    for (std::size_t i = 0; i < items.size();) {
        Packer packer;
        for (; i < items.size() && packer.bytes().size() < chunk_bytes; ++i) pack(packer, items[i]);
        if (!send(type, packer.bytes())) return false;
    }
    return true;
}

template <class Item> bool add_all(const std::string& body, std::vector<Item>& items) {
    for (Unpacker bytes(body); !bytes.at_end();) {
        Item item;
        if (!unpack(bytes, item)) return false;
        items.push_back(std::move(item));
    }
    return true;
}

}  // namespace

bool send_pe(const PeTrace& pe, const std::function<bool(char, const std::string&)>& send) {
    return send('p', head_of(pe)) && send_all(pe.log.events, 'e', send) &&
           send_all(pe.kernels.titles, 't', send) && send_all(pe.kernels.slices, 'k', send);
}

bool add_frame(char type, const std::string& body, std::vector<PeTrace>& pes) {
    if (type == 'p') return add_head(body, pes);
    if (pes.empty()) return false;
    if (type == 'e') return add_all(body, pes.back().log.events);
    if (type == 't') return add_all(body, pes.back().kernels.titles);
    return type == 'k' && add_all(body, pes.back().kernels.slices);
}

}  // namespace atl::cli
