//! `concord-oracle` for Python. The package's own code, in `concord_canonical/`, calls nothing else.
use pyo3::prelude::*;

/// The module `concord_canonical._native`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    /// Answers one JSON request. Other threads run meanwhile.
    #[pyfunction]
    fn answer(py: Python<'_>, request: &str) -> String {
        py.detach(|| concord_oracle::answer(request))
    }
}
