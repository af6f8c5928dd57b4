//! Writes loops of a kernel out whose counts are known, before it is compiled: over a node's unknowns, a row, or of a literal.
//!
//! Behind an index that only the running loop knows, a private array is memory, on a GPU the slowest there is; behind a
//! literal, an entry can be in a register. Drivers may write such loops out themselves, but need not, and the counter by
//! which wgpu proves to them that every loop ends keeps some from it: with that, Mesa's lavapipe writes none out, and besides
//! it ends all loops of the chains that run together without a word after 65 535 rounds in all
//! (`LP_MAX_TGSI_LOOP_ITERATIONS`), which is not two solves of a chain of 40 nodes.
//!
//! A loop that has `break` or `continue` stays, and so does all of a source whose braces do not balance.

use super::declared::CONSTANTS;

/// The source with loops written out, and without comments.
pub fn unrolled(source: &str) -> String {
    let code: Vec<&str> = source.lines().map(|line| line.split("//").next().unwrap_or(line)).collect();
    written_out(&code.join("\n")).unwrap_or_else(|| source.to_owned())
}

/// `None` where braces do not balance.
fn written_out(code: &str) -> Option<String> {
    let mut written = String::with_capacity(4 * code.len());
    let mut left = code;
    while let Some(at) = left.find("for (var ") {
        written += &left[..at];
        left = &left[at..];
        let opened = left.find('{')? + 1;
        let (head, inside) = left.split_at(opened);
        let body = &inside[..closing(inside)?];
        match Counted::parse(head).filter(|_| !mentions(body, "break") && !mentions(body, "continue")) {
            Some(counted) => {
                for index in counted.first..counted.end {
                    let body = with_literal(body, counted.name, index);
                    written += &format!("{{{}}}\n", written_out(&body)?);
                }
                left = &inside[body.len() + 1..];
            }
            None => {
                written += head;
                left = inside;
            }
        }
    }
    Some(written + left)
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
        let (compared, end) = condition.split_once(" <")?;
        (compared == name && counter == name).then_some(())?;
        let end = match end.strip_prefix("= ") {
            Some(last) => count(last)? + 1,
            None => count(end.strip_prefix(' ')?)?,
        };
        Some(Self { name, first: count(first)?, end })
    }
}

/// A sum of literals and constants.
fn count(sum: &str) -> Option<u32> {
    let term = |term: &str| match term.strip_suffix('u').and_then(|literal| literal.parse().ok()) {
        Some(literal) => Some(literal),
        None => CONSTANTS.iter().copied().flatten().find(|constant| constant.0 == term).map(|constant| constant.1),
    };
    sum.split(" + ").map(term).sum()
}

/// Where the brace closes that was open at the start.
fn closing(code: &str) -> Option<usize> {
    let mut open = 1;
    let closes = |byte: u8| {
        open += match byte {
            b'{' => 1,
            b'}' => -1,
            _ => 0,
        };
        open == 0
    };
    code.bytes().position(closes)
}

/// Where a name is mentioned, which is not as a part of another or as a field.
fn places<'a>(code: &'a str, name: &'a str) -> impl Iterator<Item = usize> {
    let in_name =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    let bytes = code.as_bytes();
    code.match_indices(name)
        .map(|(at, _)| at)
        .filter(move |&at| !(at > 0 && in_name(bytes.get(at - 1)) || in_name(bytes.get(at + name.len()))))
}

fn mentions(code: &str, name: &str) -> bool {
    places(code, name).next().is_some()
}

/// The code with a literal for every mention of a name.
fn with_literal(code: &str, name: &str, value: u32) -> String {
    let mut written = String::with_capacity(code.len());
    let mut from = 0;
    for at in places(code, name) {
        written += &format!("{}{value}u", &code[from..at]);
        from = at + name.len();
    }
    written + &code[from..]
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
        assert_eq!(unrolled("for (var i = 2u; i < 2u; i++) {;} x // for (var y"), " x ");
    }

    #[test]
    fn other_loops_stay() {
        for head in ["index < count", "i < count", "i < 3u && i < count", "i > 3u"] {
            let source = format!("for (var i = 0u; {head}; i++) {{ a[i]; }} b");
            assert_eq!(unrolled(&source), source);
        }
        for ends in ["break", "continue"] {
            let source = format!("for (var i = 0u; i < 2u; i++) {{ if a[i] {{ {ends}; }} }}");
            assert_eq!(unrolled(&source), source);
        }
        let within = unrolled("for (var n = 0u; n < count; n++) { for (var i = 0u; i < 2u; i++) { a[n][i]; } }");
        assert_eq!(within, "for (var n = 0u; n < count; n++) { { a[n][0u]; }\n{ a[n][1u]; }\n }");
        let open = "for (var i = 0u; i < 2u; i++) { // }";
        assert_eq!(unrolled(open), open);
    }
}
