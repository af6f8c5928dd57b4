//! Where plotters draws: pixels of our own, with bitmap fonts, so that text needs nothing of the system.

use std::convert::Infallible;

use embedded_graphics::mono_font::{MonoFont, MonoTextStyle, iso_8859_1, iso_8859_7};
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::prelude::{Dimensions, DrawTarget, Drawable as _, Pixel, Point, Size};
use embedded_graphics::primitives::Rectangle;
use embedded_graphics::text::{Baseline, Text};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind};
use sinew::picture::Image;

/// Pixels that become one, each way: lines are smooth, text stays sharp.
pub const FINE: u32 = 2;

/// Opaque pixels, [`FINE`] times as many each way as the picture has.
pub struct Canvas {
    width: u32,
    height: u32,
    rgb: Vec<[f32; 3]>,
}

impl Canvas {
    /// A white canvas for a picture of this size.
    pub fn new(width: u32, height: u32) -> Self {
        let (width, height) = (width * FINE, height * FINE);
        Self { width, height, rgb: vec![[255.0; 3]; width as usize * height as usize] }
    }

    /// The picture.
    pub fn into_image(self) -> Image {
        let (width, height) = (self.width / FINE, self.height / FINE);
        let mut rgba = Vec::with_capacity(width as usize * height as usize * 4);
        for y in 0..height {
            for x in 0..width {
                let fine = (0..FINE * FINE)
                    .map(|k| self.rgb[((y * FINE + k / FINE) * self.width + x * FINE + k % FINE) as usize]);
                let sum = fine.fold([0.0; 3], |sum: [f32; 3], rgb| std::array::from_fn(|c| sum[c] + rgb[c]));
                rgba.extend(sum.map(|channel| (channel / (FINE * FINE) as f32).round() as u8));
                rgba.push(255);
            }
        }
        Image { width, height, rgba }
    }

    fn blend(&mut self, (x, y): BackendCoord, colour: BackendColor) {
        let inside = x >= 0 && y >= 0 && (x as u32) < self.width && (y as u32) < self.height;
        if inside {
            let pixel = &mut self.rgb[(y as u32 * self.width + x as u32) as usize];
            let (r, g, b) = colour.rgb;
            for (channel, over) in pixel.iter_mut().zip([r, g, b]) {
                *channel += (f32::from(over) - *channel) * colour.alpha as f32;
            }
        }
    }
}

/// The font nearest to a size: Latin letters, and Greek ones.
fn fonts(size: f64) -> [&'static MonoFont<'static>; 2] {
    match size / f64::from(FINE) {
        ..17.0 => [&iso_8859_1::FONT_7X13, &iso_8859_7::FONT_7X13],
        ..21.0 => [&iso_8859_1::FONT_9X15, &iso_8859_7::FONT_9X15],
        _ => [&iso_8859_1::FONT_9X18_BOLD, &iso_8859_7::FONT_9X18_BOLD],
    }
}

/// Width and height of a text (pixels of the canvas).
pub fn text_size(text: &str, size: f64) -> (u32, u32) {
    let Size { width, height } = fonts(size)[0].character_size;
    (text.chars().count() as u32 * width * FINE, height * FINE)
}

/// The dots of a glyph.
struct Dots(Vec<Point>);

impl Dimensions for Dots {
    fn bounding_box(&self) -> Rectangle {
        Rectangle::new(Point::new(-4096, -4096), Size::new(8192, 8192))
    }
}

impl DrawTarget for Dots {
    type Color = BinaryColor;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<BinaryColor>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        self.0.extend(pixels.into_iter().filter(|pixel| pixel.1.is_on()).map(|pixel| pixel.0));
        Ok(())
    }
}

fn dots(text: &str, size: f64) -> Vec<Point> {
    let mut dots = Dots(Vec::new());
    let [latin, greek] = fonts(size);
    let unknown = latin.glyph_mapping.index('\u{fffd}');
    for (k, letter) in text.chars().enumerate() {
        let letter = if letter == '−' { '-' } else { letter };
        let known = latin.glyph_mapping.index(letter) != unknown || letter == '?';
        let style = MonoTextStyle::new(if known { latin } else { greek }, BinaryColor::On);
        let at = Point::new(k as i32 * latin.character_size.width as i32, 0);
        let mut bytes = [0; 4];
        match Text::with_baseline(letter.encode_utf8(&mut bytes), at, style, Baseline::Top).draw(&mut dots) {
            Ok(_) => {}
            Err(never) => match never {},
        }
    }
    dots.0
}

/// A canvas that plotters draws on.
pub struct Backend<'a>(pub &'a mut Canvas);

impl DrawingBackend for Backend<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (self.0.width, self.0.height)
    }

    fn ensure_prepared(&mut self) -> Result<(), DrawingErrorKind<Infallible>> {
        Ok(())
    }

    fn present(&mut self) -> Result<(), DrawingErrorKind<Infallible>> {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, colour: BackendColor) -> Result<(), DrawingErrorKind<Infallible>> {
        self.0.blend(point, colour);
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        centre: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        let outer = radius as f32 + if fill { 0.0 } else { 0.5 * style.stroke_width() as f32 };
        let inner = if fill { -1.0 } else { outer - style.stroke_width() as f32 };
        let reach = outer.ceil() as i32;
        for (x, y) in (-reach..=reach).flat_map(|y| (-reach..=reach).map(move |x| (x, y))) {
            let away = (x as f32).hypot(y as f32);
            if away <= outer && away > inner {
                self.0.blend((centre.0 + x, centre.1 + y), style.color());
            }
        }
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &T,
        at: BackendCoord,
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        let (width, height) = text_size(text, style.size());
        let left = match style.anchor().h_pos {
            HPos::Left => 0,
            HPos::Center => -(width as i32) / 2,
            HPos::Right => -(width as i32),
        };
        let top = match style.anchor().v_pos {
            VPos::Top => 0,
            VPos::Center => -(height as i32) / 2,
            VPos::Bottom => -(height as i32),
        };
        let fine = FINE as i32;
        for dot in dots(text, style.size()) {
            for k in 0..fine * fine {
                let (x, y) = (left + dot.x * fine + k % fine, top + dot.y * fine + k / fine);
                let (x, y) = style.transform().transform(x, y);
                self.0.blend((at.0 + x, at.1 + y), style.color());
            }
        }
        Ok(())
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        Ok(text_size(text, style.size()))
    }
}

/// Writes a text on a picture, in its smallest font; `at` is its upper left corner.
pub fn write(image: &mut Image, at: (u32, u32), text: &str, colour: [u8; 3]) {
    for dot in dots(text, 0.0) {
        let (x, y) = (at.0 as i32 + dot.x, at.1 as i32 + dot.y);
        if (0..image.width as i32).contains(&x) && (0..image.height as i32).contains(&y) {
            let pixel = (y as usize * image.width as usize + x as usize) * 4;
            image.rgba[pixel..pixel + 3].copy_from_slice(&colour);
        }
    }
}

/// Width and height of a text in the smallest font (pixels of a picture).
pub fn written_size(text: &str) -> (u32, u32) {
    let (width, height) = text_size(text, 0.0);
    (width / FINE, height / FINE)
}
