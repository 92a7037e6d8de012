"""Pictures: arrays in, matplotlib or plotly figures out."""
