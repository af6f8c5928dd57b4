//! Line plots as SVG in `tests/output/`.

use std::fmt::Write;
use std::path::Path;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 520.0;
/// Left, top, right (the legend) and bottom.
const MARGINS: [f64; 4] = [60.0, 40.0, 190.0, 50.0];
const COLOURS: [&str; 5] = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e"];
const DASHES: [&str; 3] = ["none", "6 3", "2 2"];

/// Draws curves over their index and writes `tests/output/NAME.svg`.
pub fn lines(name: &str, title: &str, x_label: &str, curves: &[(String, Vec<f64>)]) {
    let values = || curves.iter().flat_map(|(_, curve)| curve.iter().copied());
    let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
    let (low, high) = (low - 0.05 * (high - low), high + 0.05 * (high - low));
    let longest = curves.iter().map(|(_, curve)| curve.len()).max().unwrap_or(2).max(2);
    let [left, top, right, bottom] = MARGINS;
    let x = |index: usize| left + (WIDTH - left - right) * index as f64 / (longest - 1) as f64;
    let y = |value: f64| top + (HEIGHT - top - bottom) * (high - value) / (high - low);

    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/><text x="{left}" y="24" font-size="15">{title}</text>"##
    );
    for tick in 0..=5 {
        let value = low + (high - low) * f64::from(tick) / 5.0;
        let at = y(value);
        write!(
            svg,
            r##"<line x1="{left}" x2="{}" y1="{at}" y2="{at}" stroke="#ddd"/><text x="{}" y="{}" text-anchor="end">{value:.3}</text>"##,
            WIDTH - right,
            left - 6.0,
            at + 4.0
        )
        .unwrap();
    }
    for index in (0..longest).step_by((longest / 10).max(1)) {
        let (at, under) = (x(index), HEIGHT - bottom + 16.0);
        write!(svg, r##"<text x="{at}" y="{under}" text-anchor="middle">{index}</text>"##).unwrap();
    }
    write!(svg, r##"<text x="{}" y="{}">{x_label}</text>"##, 0.5 * (WIDTH - right), HEIGHT - 12.0).unwrap();
    for (k, (label, curve)) in curves.iter().enumerate() {
        let (colour, dash) = (COLOURS[k % COLOURS.len()], DASHES[k / COLOURS.len() % DASHES.len()]);
        let points: Vec<String> = curve.iter().enumerate().map(|(j, &v)| format!("{:.1},{:.1}", x(j), y(v))).collect();
        write!(
            svg,
            r##"<polyline fill="none" stroke="{colour}" stroke-dasharray="{dash}" stroke-width="1.5" points="{}"/>"##,
            points.join(" ")
        )
        .unwrap();
        let (from, at) = (WIDTH - right + 10.0, top + 18.0 * k as f64);
        write!(
            svg,
            r##"<line x1="{from}" x2="{}" y1="{at}" y2="{at}" stroke="{colour}" stroke-dasharray="{dash}" stroke-width="2"/><text x="{}" y="{}">{label}</text>"##,
            from + 26.0,
            from + 32.0,
            at + 4.0
        )
        .unwrap();
    }
    svg.push_str("</svg>\n");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/output");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{name}.svg")), svg).unwrap();
    println!("plot: tests/output/{name}.svg");
}
