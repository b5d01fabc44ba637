"""Functions run in new PEs (atoll.launch), and what pools share with that: messages, and exceptions of PEs."""
