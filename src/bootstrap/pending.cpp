// Holds the places of the ways that follow within the hour.
#include "bootstrap/bootstrap.hpp"

namespace atl {
std::string get_unique_id() { throw Error(ErrorCode::unsupported, "Unique ids are not built yet."); }
namespace bootstrap {
std::unique_ptr<Bootstrap> create_unique_id(const common::Settings&, const std::string&, int, int) {
    throw Error(ErrorCode::unsupported, "Jobs by unique id are not built yet.");
}
std::unique_ptr<Bootstrap> create_tcp(const common::Settings&) {
    throw Error(ErrorCode::unsupported, "Jobs by torchrun's variables are not built yet.");
}
std::unique_ptr<Bootstrap> create_store(const common::Settings&, const JobOptions::Store&, int, int) {
    throw Error(ErrorCode::unsupported, "Jobs by a store are not built yet.");
}
}  // namespace bootstrap
}  // namespace atl
