"""Everything to look at: pictures for Python, self-contained pages for the browser."""
