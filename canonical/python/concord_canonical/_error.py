from .error_class import ErrorClass


class CanonicalError(ValueError):
    """A request that was refused. Its message names the field, the value and the limit, and never a secret."""

    def __init__(self, error_class: ErrorClass, message: str) -> None:
        super().__init__(message)
        self.error_class: ErrorClass = error_class
        """The rule that was broken (R25). `BadRequest` is a wrong call."""
