"""How Numba compiles functions that only kernels call: with them, and not alone before."""

from __future__ import annotations

import types
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class PartOfKernels(JITCodeLibrary):
    """Code that is only linked into the kernels that call it, and optimised there, with theirs.

    Numba would optimise it and make machine code of it alone first, which nobody ever runs.
    """

    def finalize(self) -> None:
        """Link what it calls itself, and no more."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            # Numba 0.61 has no such set.
            vars(self).get("_reload_init", set()).update(vars(library).get("_reload_init", ()))
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Say that there is nothing to call: 0."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """Where Numba puts the Python objects that code refers to: nowhere, there is no code."""
        return types.SimpleNamespace(set_env=lambda name, environment: None)


class PartCompiler(Compiler):
    """Compiles what is only a part of kernels."""

    def define_pipelines(self) -> Any:
        """Numba's own pipeline, with a place for the code that keeps it from being finished."""
        state = self.state
        # Only now: Numba compiles its own functions anew for callers that were asked for in other
        # words, and has by now noted how this one was.
        state.flags.no_cpython_wrapper = True
        state.flags.no_cfunc_wrapper = True
        state.library = PartOfKernels(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


class LibraryParts:
    """Makes parts of kernels of what these call of Numba's own: it was finished alone as well."""

    def __init__(self) -> None:
        self._made: list[Any] = []

    def on_start(self, dispatcher: Any, inside: bool) -> None:
        """Choose how a function is compiled that a kernel calls."""
        compiler = dispatcher._compiler
        of_numba = str(dispatcher.py_func.__module__).startswith("numba.")
        ours = inside and of_numba and compiler.pipeline_class is Compiler
        if ours:
            compiler.pipeline_class = PartCompiler
        self._made.append(compiler if ours else None)

    def on_end(self) -> None:
        """Leave it as it was, for kernels of others."""
        compiler = self._made.pop()
        if compiler is not None:
            compiler.pipeline_class = Compiler
