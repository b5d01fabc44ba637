"""Hello: every PE prints its number."""

import atoll

atoll.init()
print(f"Hello from PE {atoll.my_pe()} of {atoll.n_pes()}")
atoll.finalize()
