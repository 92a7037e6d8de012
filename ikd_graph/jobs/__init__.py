"""What people come for: jobs compute (`compare`), their records keep and tell it (`comparison`)."""
