//! The panel at the window's side.

use std::collections::VecDeque;

use egui::{Align2, Color32, FontId, Sense, Slider, Ui, pos2, vec2};
use sinew::Backend;
use sinew::LaneWidth;
use sinew::step::Stage;

use crate::simulation::{Settings, Simulation};

/// Width of the panel (points).
pub const WIDTH: f32 = 280.0;
/// How many frames the graph shows.
const HISTORY: usize = 120;

/// What can step.
const BACKENDS: [(&str, (Backend, LaneWidth)); 3] = [
    ("CPU, 8 chains at once", (Backend::Cpu, LaneWidth::Eight)),
    ("CPU, 1 chain at a time", (Backend::Cpu, LaneWidth::One)),
    ("GPU", (Backend::Gpu, LaneWidth::Eight)),
];

/// What the panel keeps.
#[derive(Default)]
pub struct Panel {
    /// Whether time stands still.
    pub paused: bool,
    /// Whether rods are drawn.
    pub rods: bool,
    /// Whether pills are drawn.
    pub pills: bool,
    /// What went wrong last.
    pub error: Option<String>,
    /// Times of the last frames: the whole frame, and its steps (ms).
    history: VecDeque<[f32; 2]>,
}

/// What the panel asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// One step.
    Step,
    /// A jump to the next of a few places.
    Teleport,
    /// Flesh at rest, animation at its start.
    Reset,
    /// The character in the middle of the picture.
    Frame,
}

impl Panel {
    /// With overlays on or off.
    pub fn new(rods: bool, pills: bool) -> Self {
        Self { rods, pills, ..Self::default() }
    }

    /// Takes a frame's times (ms).
    pub fn record(&mut self, frame: f32, steps: f32) {
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back([frame, steps]);
    }

    /// Lays the panel out; returns what it asks for.
    pub fn show(&mut self, root: &mut Ui, simulation: Option<&mut Simulation>, adapter: &str) -> Vec<Action> {
        let mut actions = Vec::new();
        egui::Panel::left("panel").exact_size(WIDTH).resizable(false).show(root, |ui| {
            egui::ScrollArea::vertical().show(ui, |ui| {
                ui.spacing_mut().slider_width = 110.0;
                match simulation {
                    Some(simulation) => self.contents(ui, simulation, adapter, &mut actions),
                    None => self.empty(ui),
                }
            });
        });
        actions
    }

    fn empty(&self, ui: &mut Ui) {
        ui.add_space(8.0);
        ui.heading("No character");
        ui.label("Drop a .glb onto the window.");
        self.complaint(ui);
    }

    fn contents(&mut self, ui: &mut Ui, simulation: &mut Simulation, adapter: &str, actions: &mut Vec<Action>) {
        ui.add_space(8.0);
        let asset = simulation.character().asset();
        ui.heading(&asset.name);
        let body = simulation.character().body();
        let (muscles, joints, triangles) =
            (body.flesh.chains().len(), asset.skeleton.joints.len(), body.triangles.len());
        ui.weak(format!("{muscles} muscles · {joints} joints · {triangles} triangles"));
        if muscles == 0 {
            ui.label("No limb of this character takes flesh.");
        }
        self.warnings(ui, simulation);
        self.complaint(ui);

        ui.separator();
        ui.horizontal(|ui| {
            let label = if self.paused { "Play" } else { "Pause" };
            if ui.button(label).on_hover_text("Space").clicked() {
                self.paused = !self.paused;
            }
            let mut button = |text, key, action| {
                if ui.button(text).on_hover_text(key).clicked() {
                    actions.push(action);
                }
            };
            button("Step", "→", Action::Step);
            button("Teleport", "T", Action::Teleport);
            button("Reset", "R", Action::Reset);
        });
        ui.horizontal(|ui| {
            ui.checkbox(&mut self.rods, "Rods").on_hover_text("O");
            ui.checkbox(&mut self.pills, "Pills").on_hover_text("P");
            if ui.button("Frame").on_hover_text("F").clicked() {
                actions.push(Action::Frame);
            }
        });

        motion(ui, simulation);
        let settings = &mut simulation.settings;
        material(ui, settings);
        stepping(ui, settings);
        self.readings(ui, simulation, adapter);
    }

    fn warnings(&self, ui: &mut Ui, simulation: &Simulation) {
        let warnings = simulation.character().warnings();
        if !warnings.is_empty() {
            ui.collapsing(format!("{} warnings", warnings.len()), |ui| {
                for warning in warnings {
                    ui.label(&warning.0);
                }
            });
        }
    }

    fn complaint(&self, ui: &mut Ui) {
        if let Some(error) = &self.error {
            ui.colored_label(ui.visuals().error_fg_color, error);
        }
    }

    fn readings(&self, ui: &mut Ui, simulation: &Simulation, adapter: &str) {
        ui.separator();
        let (step, stages) = simulation.times();
        let [frame, _] = self.history.back().copied().unwrap_or_default();
        ui.label(format!("frame {frame:.1} ms · step {step:.2} ms"));
        self.graph(ui);
        egui::Grid::new("stages").num_columns(2).spacing([12.0, 1.0]).show(ui, |ui| {
            for stage in Stage::ALL {
                ui.small(stage.name());
                ui.small(format!("{:.3} ms", stages.get(stage)));
                ui.end_row();
            }
        });
        ui.label(format!("largest swing {:.1} mm", 1e3 * simulation.swing()));
        for laid in &simulation.health().laid_anew {
            let text = format!("{} went where it cannot be and was laid anew {} times", laid.name, laid.times);
            ui.colored_label(ui.visuals().warn_fg_color, text);
        }
        ui.weak(format!("drawn by {adapter}"));
    }

    /// Frame times, and within them the steps' share.
    fn graph(&self, ui: &mut Ui) {
        let (place, painter) = ui.allocate_painter(vec2(ui.available_width(), 44.0), Sense::hover());
        let area = place.rect;
        painter.rect_filled(area, 2.0, ui.visuals().extreme_bg_color);
        let top = self.history.iter().fold(1000.0 / 60.0_f32, |top, times| top.max(times[0]));
        let width = area.width() / HISTORY as f32;
        let colours = [Color32::from_gray(110), Color32::from_rgb(214, 92, 66)];
        for (column, times) in self.history.iter().enumerate() {
            let x = area.left() + (column as f32 + 0.5) * width;
            for (time, colour) in times.iter().zip(colours) {
                let bar = [pos2(x, area.bottom()), pos2(x, area.bottom() - area.height() * (time / top))];
                painter.line_segment(bar, (width.max(1.0), colour));
            }
        }
        let text = format!("{top:.0} ms");
        painter.text(area.left_top(), Align2::LEFT_TOP, text, FontId::proportional(9.0), ui.visuals().text_color());
    }
}

fn motion(ui: &mut Ui, simulation: &mut Simulation) {
    ui.separator();
    ui.strong("Motion");
    let names: Vec<String> =
        simulation.character().asset().animations.iter().map(|animation| animation.name.clone()).collect();
    let settings = &mut simulation.settings;
    let name = settings.animation.and_then(|index| names.get(index)).map_or("none (rest pose)", String::as_str);
    egui::ComboBox::from_id_salt("animation").width(180.0).selected_text(name).show_ui(ui, |ui| {
        ui.selectable_value(&mut settings.animation, None, "none (rest pose)");
        for (index, name) in names.iter().enumerate() {
            ui.selectable_value(&mut settings.animation, Some(index), name);
        }
    });
    ui.add(Slider::new(&mut settings.sway, 0.0..=0.5).suffix(" m").text("sway"));
    ui.add(Slider::new(&mut settings.sway_rate, 0.1..=4.0).suffix(" Hz").text("rate"));
    ui.add(Slider::new(&mut settings.activation, 0.0..=1.0).text("activation"));
}

fn material(ui: &mut Ui, settings: &mut Settings) {
    ui.separator();
    ui.strong("Flesh");
    let material = &mut settings.flesh.material;
    let mut kilopascals = material.youngs_modulus * 1e-3;
    let stiffness = Slider::new(&mut kilopascals, 1.0..=1e5).logarithmic(true).suffix(" kPa").text("Young");
    if ui.add(stiffness).changed() {
        material.youngs_modulus = kilopascals * 1e3;
    }
    ui.add(Slider::new(&mut material.poissons_ratio, 0.0..=0.499).text("Poisson"));
    ui.add(Slider::new(&mut material.damping, 0.0..=40.0).suffix(" /s").text("damping"));
    ui.add(Slider::new(&mut material.density, 100.0..=5000.0).suffix(" kg/m³").text("density"));
}

fn stepping(ui: &mut Ui, settings: &mut Settings) {
    ui.separator();
    ui.strong("Step");
    let name = BACKENDS.iter().find(|(_, stepper)| *stepper == settings.stepper).map_or("", |(name, _)| name);
    egui::ComboBox::from_id_salt("backend").width(180.0).selected_text(name).show_ui(ui, |ui| {
        for (name, stepper) in BACKENDS {
            ui.selectable_value(&mut settings.stepper, stepper, name);
        }
    });
    ui.add(Slider::new(&mut settings.substeps, 1..=16).text("substeps"));
}
