"""What people come for, one module each: a computation, its record, its tables."""
