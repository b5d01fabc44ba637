"""The magics of IPython and Jupyter, and cells on PEs."""
