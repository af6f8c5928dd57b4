//! A figure as data, and how it is drawn: panels of curves over a caption.

use plotters::coord::Shift;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use sinew::picture::Image;

use super::canvas::{Backend, Canvas, FINE, text_size};
use crate::Error;

type Area<'a> = DrawingArea<Backend<'a>, Shift>;

const WIDTH: u32 = 960;
const PANEL_HEIGHT: u32 = 400;
const MARGIN: i32 = 14;
const TITLE_SIZE: i32 = 22;
const PANEL_SIZE: i32 = 20;
/// Plotters guesses the width of a legend's text from this; at these sizes no less than the fonts need.
const TEXT_SIZE: i32 = 16;
const COLOURS: [RGBColor; 7] = [
    RGBColor(31, 119, 180),
    RGBColor(214, 39, 40),
    RGBColor(44, 140, 44),
    RGBColor(230, 126, 20),
    RGBColor(128, 90, 180),
    RGBColor(90, 90, 90),
    RGBColor(20, 160, 170),
];

/// How a curve is drawn.
#[derive(Clone, Copy, PartialEq)]
pub enum Stroke {
    Solid,
    Dashed,
    /// Only where its points are.
    Dots,
}

/// Points joined in order.
pub struct Curve {
    /// What the legend says; empty for none.
    pub label: String,
    pub points: Vec<(f64, f64)>,
    /// Index of its colour.
    pub colour: usize,
    pub stroke: Stroke,
}

impl Curve {
    pub fn new(label: impl Into<String>, colour: usize, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { label: label.into(), points: points.into_iter().collect(), colour, stroke: Stroke::Solid }
    }

    pub fn stroke(mut self, stroke: Stroke) -> Self {
        self.stroke = stroke;
        self
    }
}

/// One pair of axes.
#[derive(Default)]
pub struct Panel {
    pub title: String,
    pub x_label: String,
    pub y_label: String,
    /// Logarithmic axes.
    pub log: bool,
    /// Room for the legend over what is shown: above, or below where negative.
    pub room: f64,
    /// Both axes at the same scale, for shapes.
    pub equal: bool,
    /// Where the legend is; none draws none.
    pub legend: Option<SeriesLabelPosition>,
    pub curves: Vec<Curve>,
}

/// A figure of the paper, redrawn.
pub struct Figure {
    /// The paper's number; 0 for what is no paper's.
    pub number: u32,
    pub title: String,
    /// What it shows, with the measured quantity.
    pub caption: String,
    /// The figures that the caption tells, for the report; lengths in m, times in s, else pure numbers.
    pub numbers: Vec<(&'static str, f64)>,
    /// From left to right, two a row.
    pub panels: Vec<Panel>,
}

impl Figure {
    /// Its title, after the paper's number of it.
    pub fn heading(&self) -> String {
        let number = if self.number > 0 { format!("Figure {}. ", self.number) } else { String::new() };
        format!("{number}{}", self.title)
    }

    /// Draws it.
    pub fn draw(&self) -> Result<Image, Error> {
        let columns = self.panels.len().clamp(1, 2) as u32;
        let rows = (self.panels.len() as u32).div_ceil(columns).max(1);
        let fine = FINE as i32;
        let lines = wrapped(&self.caption, (WIDTH as i32 - 2 * MARGIN) * fine);
        let line = text_size("x", f64::from(TEXT_SIZE * fine)).1 as i32 + 3 * fine;
        let caption = lines.len() as i32 * line + 2 * MARGIN * fine;
        let heading = (TITLE_SIZE + 2 * MARGIN) * fine;
        let height = PANEL_HEIGHT * rows + (caption + heading) as u32 / FINE;
        let mut canvas = Canvas::new(WIDTH, height);
        {
            let root = Backend(&mut canvas).into_drawing_area();
            let (top, rest) = root.split_vertically(heading);
            top.draw(&Text::new(self.heading(), (MARGIN * fine, MARGIN * fine), font(TITLE_SIZE)))?;
            let (panels, bottom) = rest.split_vertically((PANEL_HEIGHT * rows * FINE) as i32);
            for (area, panel) in panels.split_evenly((rows as usize, columns as usize)).iter().zip(&self.panels) {
                panel.draw(area)?;
            }
            for (k, text) in lines.into_iter().enumerate() {
                bottom.draw(&Text::new(text, (MARGIN * fine, MARGIN * fine + k as i32 * line), font(TEXT_SIZE)))?;
            }
        }
        Ok(canvas.into_image())
    }
}

fn font(size: i32) -> TextStyle<'static> {
    ("sans-serif", size * FINE as i32).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Top))
}

/// Words in lines of at most `width` (pixels of the canvas).
fn wrapped(text: &str, width: i32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line)
                if text_size(&format!("{line} {word}"), f64::from(TEXT_SIZE * FINE as i32)).0 as i32 <= width =>
            {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

impl Panel {
    fn range(&self, of: impl Fn(&(f64, f64)) -> f64) -> (f64, f64) {
        let values = || self.curves.iter().flat_map(|curve| curve.points.iter().map(&of)).filter(|v| v.is_finite());
        let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
        if low > high {
            return (0.0, 1.0);
        }
        if self.log {
            // Whole decades, so that there are ticks.
            return (10.0_f64.powf((low.log10() - 0.05).floor()), 10.0_f64.powf((high.log10() + 0.05).ceil()));
        }
        let room = if high > low { 0.06 * (high - low) } else { 0.5 };
        (low - room, high + room)
    }

    fn draw(&self, area: &Area<'_>) -> Result<(), Error> {
        let (mut x, mut y) = (self.range(|p| p.0), self.range(|p| p.1));
        let extra = self.room.abs() * (y.1 - y.0);
        y = if self.room < 0.0 { (y.0 - extra, y.1) } else { (y.0, y.1 + extra) };
        let fine = FINE as i32;
        let (left, below) = (70 * fine, 46 * fine);
        let mut builder = ChartBuilder::on(area);
        builder.margin(MARGIN * fine).x_label_area_size(below).y_label_area_size(left);
        let style = font(PANEL_SIZE);
        builder.caption(&self.title, style);
        if self.equal {
            let (wide, high) = area.dim_in_pixel();
            let wide = f64::from(wide) - f64::from(2 * MARGIN * fine + left);
            let high = f64::from(high) - f64::from(2 * MARGIN * fine + below + 24 * fine);
            let scale = ((x.1 - x.0) / wide).max((y.1 - y.0) / high);
            let grown = |(low, high): (f64, f64), pixels: f64| {
                let (middle, half) = (0.5 * (low + high), 0.5 * scale * pixels);
                (middle - half, middle + half)
            };
            (x, y) = (grown(x, wide), grown(y, high));
        }
        if self.log {
            self.fill(&mut builder.build_cartesian_2d((x.0..x.1).log_scale(), (y.0..y.1).log_scale())?, &exponential)
        } else {
            self.fill(&mut builder.build_cartesian_2d(x.0..x.1, y.0..y.1)?, &decimal)
        }
    }

    fn fill<'a, X, Y>(
        &self,
        chart: &mut ChartContext<'a, Backend<'a>, Cartesian2d<X, Y>>,
        format: &dyn Fn(&f64) -> String,
    ) -> Result<(), Error>
    where
        X: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let fine = FINE;
        chart
            .configure_mesh()
            .x_desc(&self.x_label)
            .y_desc(&self.y_label)
            .label_style(font(TEXT_SIZE))
            .axis_desc_style(font(TEXT_SIZE))
            .x_label_formatter(format)
            .y_label_formatter(format)
            .x_labels(7)
            .y_labels(8)
            .light_line_style(WHITE)
            .bold_line_style(BLACK.mix(0.12))
            .axis_style(BLACK.mix(0.6).stroke_width(fine))
            .draw()?;
        for curve in &self.curves {
            let colour = COLOURS[curve.colour % COLOURS.len()];
            let line = colour.stroke_width(2 * fine);
            let points = curve.points.iter().copied().filter(|p| p.0.is_finite() && p.1.is_finite());
            let (dash, gap) = (8 * fine, 5 * fine);
            let drawn = match curve.stroke {
                Stroke::Solid => chart.draw_series(LineSeries::new(points, line))?,
                Stroke::Dashed => chart.draw_series(DashedLineSeries::new(points, dash, gap, line))?,
                Stroke::Dots => chart.draw_series(points.map(|p| Circle::new(p, 3 * fine, colour.filled())))?,
            };
            if curve.label.is_empty() {
                continue;
            }
            let (stroke, length) = (curve.stroke, 22 * fine as i32);
            drawn.label(&curve.label).legend(move |(x, y)| {
                let ends = [(x, y), (x + length, y)];
                match stroke {
                    Stroke::Solid => PathElement::new(ends, line).into_dyn(),
                    Stroke::Dashed => DashedPathElement::new(ends, dash, gap, line).into_dyn(),
                    Stroke::Dots => Circle::new((x + length / 2, y), 3 * fine, colour.filled()).into_dyn(),
                }
            });
        }
        if let Some(position) = &self.legend {
            chart
                .configure_series_labels()
                .position(position.clone())
                .margin(8 * fine)
                .legend_area_size(28 * fine)
                .label_font(font(TEXT_SIZE))
                .background_style(WHITE.mix(0.85))
                .border_style(BLACK.mix(0.3))
                .draw()?;
        }
        Ok(())
    }
}

/// A tick of a logarithmic axis.
fn exponential(value: &f64) -> String {
    if (0.01..1000.0).contains(value) { decimal(value) } else { format!("{value:.0e}") }
}

/// A tick without idle zeros.
fn decimal(value: &f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" || text.is_empty() { "0".into() } else { text.into() }
}
