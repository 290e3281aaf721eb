//! Text for a terminal, in colours or without.
use super::cell::plain;
use std::fmt::{self, Write};

/// Whether a report is written with the escape sequences of ANSI colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    None,
    Ansi,
}

/// What a piece of text says before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Bad,
    /// As any other text.
    Even,
    /// Explains something else.
    Faint,
}

/// A text being written. Control bytes are escaped as they come, so that no file, chain or adapter
/// can colour anything, or do worse.
pub(crate) struct Terminal {
    text: String,
    colours: Colours,
}

impl Tone {
    /// Of ANSI's "select graphic rendition".
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Good => Some("32"),
            Self::Bad => Some("1;31"),
            Self::Faint => Some("2"),
            Self::Even => None,
        }
    }
}

impl Terminal {
    pub fn new(colours: Colours) -> Self {
        Self {
            text: String::new(),
            colours,
        }
    }

    pub fn paint(&mut self, tone: Tone, text: &str) -> fmt::Result {
        match (self.colours, tone.code()) {
            (Colours::Ansi, Some(code)) => {
                self.text.push_str(&format!("\x1b[{code}m"));
                self.write_str(text)?;
                self.text.push_str("\x1b[0m");
                Ok(())
            }
            _ => self.write_str(text),
        }
    }

    pub fn into_text(self) -> String {
        self.text
    }
}

impl Write for Terminal {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.push_str(&plain(text));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_painted_has_escape_bytes_and_only_in_colours() {
        for (colours, expected) in [
            (Colours::None, "\\u{1b}[31mFAILED \\u{1b}[0m and\n"),
            (
                Colours::Ansi,
                "\\u{1b}[31m\x1b[1;31mFAILED \\u{1b}[0m\x1b[0m and\n",
            ),
        ] {
            let mut terminal = Terminal::new(colours);
            write!(terminal, "\x1b[31m").unwrap();
            terminal.paint(Tone::Bad, "FAILED \x1b[0m").unwrap();
            terminal.paint(Tone::Even, " and\n").unwrap();
            assert_eq!(terminal.into_text(), expected);
        }
    }
}
