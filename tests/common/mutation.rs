//! Kernels with one token changed.

use std::ops::Range;

use sinew::gpu::KERNELS;
use sinew::step::{Stage, StepConfig};

/// A stage's source with the token of one line changed that is marked `⟨so⟩`.
pub fn changed(stage: Stage, line: &str, to: &str) -> String {
    let source = written(stage);
    let token = token(stage, &source, line);
    [&source[..token.start], to, &source[token.end..]].concat()
}

/// A stage's source with many tokens changed, of which [`choose`] picks one or none as it runs: a driver compiles it once, which takes it
/// longer than anything else that is done with a kernel.
pub fn switched(stage: Stage, changes: &[(&str, &str)]) -> String {
    let source: String =
        written(stage).lines().map(|line| line.split("//").next().unwrap_or(line).to_owned() + "\n").collect();
    let tokens: Vec<Range<usize>> = changes.iter().map(|(line, _)| token(stage, &source, line)).collect();
    let mut switched = String::new();
    for span in statements(&source) {
        let statement = &source[span.clone()];
        let within = |token: &Range<usize>| span.contains(&token.start);
        let of_statement = tokens.iter().zip(1_u32..).zip(changes).filter(|((token, _), _)| within(token));
        let others: Vec<(u32, String)> = of_statement
            .map(|((token, number), (_, to))| {
                let [from, till] = [token.start, token.end].map(|at| at - span.start);
                (number, [&statement[..from], to, &statement[till..]].concat())
            })
            .collect();
        switched += &if others.is_empty() { statement.to_owned() } else { one_of(statement, &others) };
    }
    switched + "fn changed_token() -> u32 { return u32(params.sleep_within * 256.0 + 0.5); }\n"
}

/// Has a kernel that [`switched`] wrote run with its change of that number, from 1, or with none: by what only `let_sleep` reads, and
/// of flesh that never sleeps not even that.
pub fn choose(config: &mut StepConfig, number: usize) {
    assert!(config.sleep_after.is_infinite() && number < 256);
    config.sleep_within = number as f64 / 256.0;
}

fn written(stage: Stage) -> String {
    let spec = KERNELS.iter().find(|(of, _)| *of == stage).and_then(|(_, specs)| specs.first()).expect("has a kernel");
    spec.written()
}

/// Where the marked token of a line is.
fn token(stage: Stage, source: &str, line: &str) -> Range<usize> {
    let (before, rest) = line.split_once('⟨').expect("has a mark");
    let (what, after) = rest.split_once('⟩').expect("has a mark");
    let found = format!("{before}{what}{after}");
    assert_eq!(source.matches(&found).count(), 1, "{}: {found}", stage.name());
    let start = source.find(&found).expect("is there once") + before.len();
    start..start + what.len()
}

/// Statements, each with what ends it, and heads of blocks with their brace, of a source without comments.
fn statements(source: &str) -> Vec<Range<usize>> {
    let (mut depth, mut start, mut spans) = (0, 0, Vec::new());
    for (at, letter) in source.char_indices() {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        if depth == 0 && matches!(letter, ';' | '{' | '}') {
            spans.push(start..at + 1);
            start = at + 1;
        }
    }
    spans.push(start..source.len());
    spans
}

/// A statement or a head, or one of others by their numbers.
fn one_of(statement: &str, others: &[(u32, String)]) -> String {
    let each = |put: &dyn Fn(&str) -> String| -> String {
        let cases = others.iter();
        let cases = cases.map(|(number, other)| format!("if changed_token() == {number}u {{ {} }}", put(other.trim())));
        cases.collect::<Vec<_>>().join(" else ")
    };
    let code = statement.trim();
    if let Some((start, _)) = code.split_once("if ").filter(|(start, _)| ["", "else "].contains(start)) {
        let condition = |head: &str| head.trim()[start.len() + "if ".len()..].trim_end_matches('{').to_owned();
        let all = others.iter().fold(condition(code), |all, (number, other)| {
            format!("select(({all}), ({}), changed_token() == {number}u)", condition(other))
        });
        format!("\n{start}if {all} {{")
    } else if let Some(named) = code.strip_prefix("let ").or(code.strip_prefix("var ")) {
        let name = named.split([':', ' ']).next().expect("has a name");
        let value = |other: &str| format!("{name} ={}", other.split_once(" =").expect("has a value").1);
        format!("\nvar {named} {}", each(&value))
    } else if code.starts_with("return ") {
        format!("\n{} {code}", each(&str::to_owned))
    } else {
        assert!(code.ends_with(';') && !code.starts_with("const "), "neither a statement nor an if: {code}");
        format!("\n{} else {{ {code} }}", each(&str::to_owned))
    }
}
