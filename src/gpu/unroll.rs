//! Writes loops of a kernel out whose counts are known, before it is compiled: over a node's unknowns, or of a literal.
//!
//! In a register, an entry of a small matrix costs nothing; behind an index that only the running loop knows, a private array
//! is memory, on a GPU the slowest there is. Drivers may write such loops out themselves, but need not, and what wgpu adds to
//! every loop to prove that it ends keeps some from it. One that never does is Mesa's lavapipe, which besides ends all loops of
//! an invocation without a word after 65 535 rounds in all (`LP_MAX_TGSI_LOOP_ITERATIONS`): that is not two solves of a chain
//! of 40 nodes.

use crate::cpu::rod_energies::UNKNOWNS;
use crate::layout::rest;

/// The source with loops written out.
pub fn unrolled(source: &str) -> String {
    let mut written = String::with_capacity(4 * source.len());
    let mut rest = source;
    while let Some(at) = rest.find("for (var ") {
        written += &rest[..at];
        rest = &rest[at..];
        let opened = rest.find('{').expect("a loop has a body") + 1;
        let body = &rest[opened..closing(&rest[opened..]) + opened];
        let after = &rest[opened + body.len() + 1..];
        match Counted::parse(&rest[..opened]) {
            Some(counted) => {
                for index in counted.first..counted.end {
                    written += "{";
                    written += &unrolled(&with_literal(body, counted.name, index));
                    written += "}\n";
                }
                rest = after;
            }
            None => {
                written += &rest[..opened];
                rest = &rest[opened..];
            }
        }
    }
    written + rest
}

/// A loop `for (var name = first; name < end; name++) {`.
struct Counted<'a> {
    name: &'a str,
    first: u32,
    end: u32,
}

impl<'a> Counted<'a> {
    /// `None` where its count is not known.
    fn parse(head: &'a str) -> Option<Self> {
        let inner = head.strip_prefix("for (var ")?.strip_suffix("++) {")?;
        let (name, inner) = inner.split_once(" = ")?;
        let (first, inner) = inner.split_once("; ")?;
        let (condition, counter) = inner.split_once("; ")?;
        let (left, end) = condition.split_once(" <")?;
        (left == name && counter == name).then_some(())?;
        let end = match end.strip_prefix("= ") {
            Some(last) => count(last)? + 1,
            None => count(end.strip_prefix(' ')?)?,
        };
        Some(Self { name, first: count(first)?, end })
    }
}

/// A sum of literals and names.
fn count(sum: &str) -> Option<u32> {
    let term = |term: &str| match term {
        "UNKNOWNS" => Some(UNKNOWNS as u32),
        "REST_ENTRIES" => Some(rest::ENTRIES as u32),
        literal => literal.strip_suffix('u')?.parse().ok(),
    };
    sum.split(" + ").map(term).sum()
}

/// Where the brace closes that was open at the start.
fn closing(source: &str) -> usize {
    let mut open = 1;
    let closes = |byte: u8| {
        open += match byte {
            b'{' => 1,
            b'}' => -1,
            _ => 0,
        };
        open == 0
    };
    source.bytes().position(closes).expect("braces are balanced")
}

/// The source with a literal for every mention of a name.
fn with_literal(source: &str, name: &str, value: u32) -> String {
    let in_name =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    let mut written = String::with_capacity(source.len());
    let mut from = 0;
    for (at, _) in source.match_indices(name) {
        let bytes = source.as_bytes();
        if at > 0 && in_name(bytes.get(at - 1)) || in_name(bytes.get(at + name.len())) {
            continue;
        }
        written += &source[from..at];
        written += &format!("{value}u");
        from = at + name.len();
    }
    written + &source[from..]
}

#[cfg(test)]
mod tests {
    use super::unrolled;

    #[test]
    fn loops_of_known_count_are_written_out_innermost_too() {
        let source =
            "for (var i = 1u; i < 3u; i++) { for (var k = i + 1u; k <= i + 1u; k++) { a[i][k] = rows.i + ik; } }";
        assert_eq!(unrolled(source), "{ { a[1u][2u] = rows.i + ik; }\n }\n{ { a[2u][3u] = rows.i + ik; }\n }\n");
        assert_eq!(unrolled("for (var i = 0u; i < UNKNOWNS; i++) {;}").matches("{;}").count(), 7);
        assert_eq!(unrolled("for (var i = 2u; i < 2u; i++) {;} x"), " x");
    }

    #[test]
    fn other_loops_stay() {
        for head in ["index < count", "i < count", "i < 3u && i < count", "i > 3u"] {
            let source = format!("for (var i = 0u; {head}; i++) {{ a[i]; }} b");
            assert_eq!(unrolled(&source), source);
        }
        let within = unrolled("for (var n = 0u; n < count; n++) { for (var i = 0u; i < 2u; i++) { a[n][i]; } }");
        assert_eq!(within, "for (var n = 0u; n < count; n++) { { a[n][0u]; }\n{ a[n][1u]; }\n }");
    }
}
