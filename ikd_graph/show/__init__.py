"""Everything to look at: pictures and pages."""
