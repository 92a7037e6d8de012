"""What every layer needs: compiling, threads, memory, files, progress, warnings, validation."""
