"""Everything for comparing: data, peers, measures, experiments."""
