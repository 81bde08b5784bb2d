"""scikit-learn's callback protocol (version 1.9 on), and what takes its place where it is missing."""

import threading
from collections.abc import Callable
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """The method itself."""
        return method


__all__ = ["CallbackSupportMixin", "FitTask", "with_callbacks"]


class FitTask:
    """The task "fit" of an estimator, with one subtask for each check of the solver."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any):
        self.context = None
        if hasattr(estimator, "_init_callback_context"):
            self.estimator = estimator
            self.data = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
            self.context = estimator._init_callback_context(max_subtasks=None)
            self.context.call_on_fit_task_begin(estimator=estimator, **self.data)
        self.lock = threading.Lock()

    def observers(self) -> list[Callable[[Any], Any]]:
        """What `solve` is to call at every check: nothing when nobody listens."""
        if self.context is None or not getattr(self.estimator, "_skl_callbacks", None):
            return []
        return [self._note]

    def _note(self, record: Any) -> bool:
        assert self.context is not None
        with self.lock:
            task = self.context.subcontext(task_name="check")
            task.call_on_fit_task_begin(estimator=self.estimator, **self.data)
            return bool(task.call_on_fit_task_end(estimator=self.estimator, **self.data))

    def end(self) -> None:
        """Tell the callbacks that the estimator is fitted."""
        if self.context is not None:
            self.context.call_on_fit_task_end(
                estimator=self.estimator, **self.data, reconstruction_attributes=dict
            )
