"""A battery of data sets: one half to develop on, the other to confirm; see ``__main__``."""
