"""Everything for comparing: data, peers, measures, diagnosis."""
