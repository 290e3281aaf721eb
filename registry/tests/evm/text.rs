//! R17, EVM-31: texts that are not UTF-8.
use concord_registry::evm::text::{bytes_of, text_of};

#[test]
fn r17_utf8_is_its_own_text() {
    for text in [
        "",
        "uptime",
        "nul\0",
        "ü€😀",
        "\u{10FE7F}\u{10FF00}\u{FFFD}\u{10FFFF}",
    ] {
        assert_eq!(text_of(text.as_bytes()), text);
        assert_eq!(bytes_of(text), text.as_bytes());
    }
}

#[test]
fn r17_every_other_byte_is_a_character_of_its_own() {
    assert_eq!(text_of(b"a\xffb\x80"), "a\u{10FEFF}b\u{10FE80}");
    // cut off, overlong, half of a surrogate pair
    assert_eq!(text_of(b"\xe2\x82"), "\u{10FEE2}\u{10FE82}");
    assert_eq!(text_of(b"\xc0\xaf"), "\u{10FEC0}\u{10FEAF}");
    assert_eq!(text_of(b"\xed\xa0\x80"), "\u{10FEED}\u{10FEA0}\u{10FE80}");
}

#[test]
fn r17_no_utf8_has_the_text_of_other_bytes() {
    let posing = "\u{10FEFF}";
    assert_eq!(posing.as_bytes(), b"\xf4\x8f\xbb\xbf");
    assert_eq!(
        text_of(posing.as_bytes()),
        "\u{10FEF4}\u{10FE8F}\u{10FEBB}\u{10FEBF}"
    );
    assert_ne!(text_of(posing.as_bytes()), text_of(b"\xff"));
}

#[test]
fn r17_the_bytes_of_a_text_are_those_that_it_was_made_of() {
    let pieces: [&[u8]; 8] = [
        b"",
        b"a",
        b"\0",
        b"\x80",
        b"\xff",
        b"\xf4\x8f\xbb",
        b"\xbf",
        "€".as_bytes(),
    ];
    for first in pieces {
        for second in pieces {
            for third in pieces {
                let bytes = [first, second, third].concat();
                assert_eq!(bytes_of(&text_of(&bytes)), bytes);
            }
        }
    }
}
