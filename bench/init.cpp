// The shortest job there is: started under `atoll run` by compare.py, beside a program that does nothing.
#include <atoll/atoll.hpp>

int main() {
    atoll::init();
    atoll::finalize();
}
