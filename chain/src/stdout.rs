//! Results of commands.
use std::io::{self, Write};

/// Writes a result to stdout. A reader that has gone, as `head` does, has read as much as it wanted.
///
/// # Errors
/// Stdout cannot be written for another reason than a closed pipe.
pub fn show(result: impl AsRef<[u8]>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(result.as_ref()).and_then(|()| out.flush()) {
        Err(fault) if fault.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
