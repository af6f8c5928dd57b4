//! What is wrong with text that was to be JSON.

/// How to mend the commonest slips of people who write JSON by hand; `None` where it is none of them.
pub fn json_fix(text: &str) -> Option<&'static str> {
    const CURLY: [char; 9] = ['“', '”', '„', '‟', '‘', '’', '«', '»', '″'];
    let bare = without_strings(text);
    if bare.contains(CURLY) {
        return Some("use double quotes, \"like this\", in place of curly ones");
    }
    if bare.contains('\'') {
        return Some("use double quotes, \"like this\", in place of single ones");
    }
    let mut letters = bare.chars().filter(|letter| !letter.is_whitespace()).peekable();
    while let Some(letter) = letters.next() {
        if letter == ',' && letters.peek().is_some_and(|next| ['}', ']', ','].contains(next)) {
            return Some("take out the trailing comma, the one before } or ]");
        }
    }
    let words = bare.split(|letter: char| !letter.is_alphanumeric());
    if words.into_iter().any(|word| ["True", "False", "None"].contains(&word)) {
        return Some("write true, false and null in place of True, False and None");
    }
    None
}

/// The text without what stands in double quotes.
fn without_strings(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let (mut within, mut escaped) = (false, false);
    for letter in text.chars() {
        if within {
            within = escaped || letter != '"';
            escaped = letter == '\\' && !escaped;
        } else if letter == '"' {
            within = true;
            bare.push('"');
        } else {
            bare.push(letter);
        }
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_told_from_what_stands_in_quotes() {
        for (text, part) in [
            ("{'origin': 'upper_arm'}", "double quotes"),
            ("{“origin”: “upper_arm”}", "double quotes"),
            ("{\"origin\": 'upper_arm'}", "single"),
            ("{\"origin\": \"upper_arm\",}", "comma"),
            ("{\"tendon\": [0.1, 0.2, ]}", "comma"),
            ("{\"rigid\": True}", "true"),
        ] {
            assert!(json_fix(text).is_some_and(|fix| fix.contains(part)), "{text}: {:?}", json_fix(text));
        }
        for text in ["{", "{\"it's\": \"a,}\" \"b\"}", "{\"a\": \"\\\"',]\" x}", "upper_arm"] {
            assert_eq!(json_fix(text), None, "{text}");
        }
    }
}
