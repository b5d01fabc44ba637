// The owner of a GPU's memory carries out operations of other PEs. Puts and atomics without a result begin in
// order. They complete before their sender is acknowledged and before host memory shows a later one.
#include "atoll/error.hpp"
#include "transport/apply_atomic.hpp"
#include "transport/ucx/engine.hpp"

namespace atl::transport::ucx {

/// Pinned when the heap is opened. Later, pinning could wait for kernels that wait for an answer.
constexpr std::size_t pieces_ahead = 4;

void Engine::serve_device_heap(DeviceOwner* owner) {
    settle_device();
    if (rma_ && worker_.access() == OwnAccess::device_memory) {
        if (owner) check_own_access(*owner);
        rma_->drop_device_chunks();
    }
    device_ = owner;
    while (owner && pieces_.size() < pieces_ahead) pieces_.push_back({owner->pin_piece(), {}});
}

/// Checks a setting ATOLL_UCX_RMA=device, which the user made explicitly.
void Engine::check_own_access(const DeviceOwner& owner) {
    const auto refuse = [&](const std::string& why) {
        throw Error(ErrorCode::unsupported, "ATOLL_UCX_RMA=device: " + why +
                                                " Unset, data of device heaps go through pinned memory.");
    };
    if (!owner.admits_networks()) refuse("no network may reach this GPU's memory (GPUDirect RDMA).");
    if (owner.is_gpu_memory() && !worker_.knows_cuda())
        refuse("UCX " + worker_.ucp().version + " (" + worker_.ucp().path + ")" +
               " knows no CUDA here; ATOLL_UCX_LIBRARY names another, and UCX_TLS, if set, must have "
               "cuda_copy in it.");
}

DeviceOwner& Engine::device() {
    if (device_) return *device_;
    throw Error(ErrorCode::not_initialized,
                "another PE sent an operation on its device heap, which is not there");
}

/// Ends the job: PEs would otherwise take the failed operation for completed.
void Engine::lose_device(const std::string& why) {
    options_.lost(options_.pe, "PE " + std::to_string(options_.pe) +
                                   " could not carry out what other PEs asked of its GPU: " + why);
}

void Engine::settle_device() {
    if (!device_unsettled_) return;
    device_unsettled_ = false;
    try {
        device().settle();
    } catch (const std::exception& error) {
        lose_device(error.what());
    }
}

void Engine::act_on_device(Peer& peer, const Header& header, const char* data, std::size_t bytes) {
    try {
        switch (header.kind) {
            case Kind::put:
                put_on_device(header, data, bytes);
                return;
            case Kind::put_signal:
                return put_and_signal(header, data, bytes);
            case Kind::put_blocks:
                device_unsettled_ = true;
                return device().put_blocks(offset_on_device(header.offset), data,
                                           {header.b, bytes / header.b, header.a, header.b});
            case Kind::atomic:
                device_unsettled_ = true;
                device().atomic(offset_on_device(header.offset), header.op, header.type, header.a, header.b);
                return;
            case Kind::fetch: {
                Header request = header;
                request.a = device().atomic(offset_on_device(header.offset), header.op, header.type, header.a,
                                            header.b);
                return take_request(peer, request, 0);
            }
            case Kind::ask_key:
                return take_request(peer, header, chunk_bytes);
            case Kind::show_puts:
                return device().show_network_puts();
            default:
                return take_request(peer, header, header.a);
        }
    } catch (const std::exception& error) {
        lose_device(error.what());
    }
}

void Engine::put_on_device(const Header& header, const char* data, std::size_t bytes) {
    device_unsettled_ = true;
    device().put(offset_on_device(header.offset), data, bytes);
}

/// Data and signal may each be on the GPU.
void Engine::put_and_signal(const Header& header, const char* data, std::size_t bytes) {
    if (bytes != 0 && is_on_device(header.offset))
        put_on_device(header, data, bytes);
    else if (bytes != 0)
        store(address_at(header.offset, bytes), data, bytes);
    if (is_on_device(header.a)) {
        device_unsettled_ = true;
        device().atomic(offset_on_device(header.a), header.op, DType::uint64, header.b, 0);
    } else {
        settle_device();
        apply_atomic(header.op, DType::uint64, address_at(header.a, sizeof header.b), header.b, 0);
    }
}

// ---- answers

Piece& Engine::free_piece() {
    for (Piece& piece : pieces_)
        if (piece.flight.left == 0) return piece;
    pieces_.push_back({device().pin_piece(), {}});
    return pieces_.back();
}

void Engine::answer_get_from_device(Peer& peer, const Header& request) {
    if (request.a > DeviceOwner::piece_bytes)
        throw Error(ErrorCode::invalid_argument, "it asked for more of a GPU's memory than goes at once");
    Piece& piece = free_piece();
    device().get(piece.memory, offset_on_device(request.offset), request.a);
    device_unsettled_ = false;
    answer_from(peer, request, piece.memory, &piece.flight);
}

void Engine::get_device_blocks(const Header& request, std::uint64_t first, char* dst, std::size_t bytes) {
    device().get_blocks(dst, offset_on_device(request.offset) + first * request.c,
                        {request.b, bytes / request.b, request.c, request.b});
    device_unsettled_ = false;
}

}  // namespace atl::transport::ucx
