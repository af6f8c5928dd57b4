//! What the benches take on their command lines.

use std::process::exit;

/// The number above 0 after `flag`, or the default, and all other arguments; ends the bench where they are wrong.
pub fn count_and_others(flag: &str, default: usize) -> (usize, Vec<String>) {
    let (mut count, mut others) = (default, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == flag {
            count = arguments.next().and_then(|n| n.parse().ok()).filter(|&n| n > 0).unwrap_or_else(|| {
                eprintln!("{flag} needs a number above 0");
                exit(2)
            });
        } else if !["--bench", "--check"].contains(&argument.as_str()) {
            // `--bench` is said by cargo, `--check` is the bars'.
            others.push(argument);
        }
    }
    (count, others)
}

/// As [`count_and_others`], where the others are numbers of something; the defaults where there are none.
#[allow(dead_code, reason = "not all benches have others")]
pub fn count_and_counts(flag: &str, default: usize, of: &str, defaults: &[usize]) -> (usize, Vec<usize>) {
    let (count, others) = count_and_others(flag, default);
    (count, counts(&others, flag, of, defaults))
}

/// What others there are as numbers of something; the defaults where there are none.
#[allow(dead_code, reason = "not all benches have others")]
pub fn counts(others: &[String], flag: &str, of: &str, defaults: &[usize]) -> Vec<usize> {
    let number = |other: &String| {
        other.parse().ok().filter(|&n| n > 0).unwrap_or_else(|| {
            eprintln!("{other}: a number of {of} above 0, {flag} N or --check");
            exit(2)
        })
    };
    let counts: Vec<usize> = others.iter().map(number).collect();
    if counts.is_empty() { defaults.to_vec() } else { counts }
}

/// As [`count_and_others`], where there are no others.
#[allow(dead_code, reason = "not all benches do without")]
pub fn count(flag: &str, default: usize) -> usize {
    let (count, others) = count_and_others(flag, default);
    if let Some(other) = others.first() {
        eprintln!("{other}: only {flag} N and --check are known");
        exit(2);
    }
    count
}
