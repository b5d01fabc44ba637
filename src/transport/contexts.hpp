// Contexts: the role of a transport that makes contexts, and orders and completes their operations.
#pragma once

#include <cstdint>

namespace atl::transport {

using ContextId = std::uint32_t;  ///< 0 is the default context

/// Creation, order and completion of contexts. A context's operations to one PE may be delivered in any order
/// until `fence` or `quiet`.
class Contexts {
  public:
    virtual ~Contexts() = default;
    virtual ContextId create_context() = 0;
    /// Destroys a context; implies its quiet.
    virtual void destroy_context(ContextId context) = 0;
    /// Orders this context's puts and atomics to `pe` (-1: to each PE): those before the fence are delivered
    /// before those after it.
    virtual void fence(ContextId context, int pe) = 0;
    /// Completes all operations of this context to `pe` (-1: all) and makes them visible to every PE.
    virtual void quiet(ContextId context, int pe) = 0;
};

}  // namespace atl::transport
