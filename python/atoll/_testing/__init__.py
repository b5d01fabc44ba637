"""Tests on several PEs: the fixture of pytest's plug-in, and its part on each PE."""
