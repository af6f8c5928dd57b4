//! The panel at the window's side.

use std::collections::VecDeque;

use egui::{Align2, Color32, ComboBox, FontId, Rgba, Sense, Slider, Ui, pos2, vec2};
use sinew::step::Stage;
use sinew::{Backend, Character, LaneWidth};

use crate::heap::{MOST, SceneName};
use crate::simulation::{Settings, Simulation};
use crate::stage::{FORCES, Overlays, force_colour};
use crate::thrown::{Projectile, Throw};

/// Width of the panel (points).
pub const WIDTH: f32 = 280.0;
/// How many things a heap has at first.
const COUNT: usize = 25;
/// How many frames the graph shows.
const HISTORY: usize = 120;

/// What can step.
const BACKENDS: [(&str, (Backend, LaneWidth)); 3] = [
    ("CPU, 8 chains at once", (Backend::Cpu, LaneWidth::Eight)),
    ("CPU, 1 chain at a time", (Backend::Cpu, LaneWidth::One)),
    ("GPU", (Backend::Gpu, LaneWidth::Eight)),
];

/// What the panel keeps.
pub struct Panel {
    /// Whether time stands still.
    pub paused: bool,
    /// What is drawn over the scene.
    pub overlays: Overlays,
    /// Which scene there is, or is asked for by [`Action::Open`].
    pub scene: SceneName,
    /// How many things a heap has that is opened.
    pub count: usize,
    /// How many things the last one had that was opened or asked for.
    pub dropped: usize,
    /// How things are thrown.
    pub throw: Throw,
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
    /// Flesh at rest, animation at its start, nothing thrown; a heap dropped anew.
    Reset,
    /// The character or the heap in the middle of the picture.
    Frame,
    /// The panel's scene, from its start.
    Open,
    /// Something thrown from the camera.
    Throw,
}

impl Default for Panel {
    fn default() -> Self {
        Self {
            paused: false,
            overlays: Overlays::default(),
            scene: SceneName::default(),
            count: COUNT,
            dropped: COUNT,
            throw: Throw::default(),
            error: None,
            history: VecDeque::new(),
        }
    }
}

impl Panel {
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
                    None => self.empty(ui, &mut actions),
                }
            });
        });
        actions
    }

    fn empty(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        ui.add_space(8.0);
        ui.heading("No character");
        ui.label("Drop a .glb onto the window, or choose a heap.");
        self.complaint(ui);
        self.scene(ui, actions);
    }

    /// The choice of a scene; a heap's count is taken once its slider is let go.
    fn scene(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        let before = self.scene;
        ComboBox::from_id_salt("scene").width(180.0).selected_text(self.scene.name()).show_ui(ui, |ui| {
            for scene in SceneName::ALL {
                ui.selectable_value(&mut self.scene, scene, scene.name());
            }
        });
        let mut asked = self.scene != before;
        if self.scene != SceneName::Character {
            let slider = ui.add(Slider::new(&mut self.count, 1..=MOST).logarithmic(true).text("dropped"));
            let let_go = slider.drag_stopped() || slider.lost_focus() || !(slider.dragged() || slider.has_focus());
            asked |= let_go && self.count != self.dropped;
        }
        if asked {
            self.dropped = self.count;
            actions.push(Action::Open);
        }
    }

    fn throwing(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        ui.separator();
        ui.horizontal(|ui| {
            let how = "G: from the camera, in its direction; a character's bones stop it only while the CPU steps";
            if ui.button("Throw").on_hover_text(how).clicked() {
                actions.push(Action::Throw);
            }
            let Throw { projectile, .. } = &mut self.throw;
            ComboBox::from_id_salt("projectile").width(100.0).selected_text(projectile.name()).show_ui(ui, |ui| {
                for other in Projectile::ALL {
                    ui.selectable_value(projectile, other, other.name());
                }
            });
        });
        let Throw { speed, size, most, .. } = &mut self.throw;
        ui.add(Slider::new(speed, 0.0..=30.0).suffix(" m/s").text("speed"))
            .on_hover_text("what is thin and fast needs more substeps to be stopped");
        ui.add(Slider::new(size, 0.05..=2.0).logarithmic(true).suffix(" m").text("size"));
        ui.add(Slider::new(most, 1..=100).logarithmic(true).text("at most")).on_hover_text("the oldest vanishes");
    }

    /// How much flesh there is and where it is pressed.
    fn flesh(&self, ui: &mut Ui, simulation: &Simulation) {
        ui.separator();
        let counts = simulation.counts();
        let text = format!("{} awake · {} asleep · {} thrown", counts.awake, counts.asleep, counts.thrown);
        ui.label(text).on_hover_text("what sleeps is greyer; on a GPU nothing does yet");
        match counts.contacts {
            Some(1) => ui.label("1 contact"),
            Some(contacts) => ui.label(format!("{contacts} contacts")),
            None => ui.weak("contacts are listed only while the CPU steps"),
        };
        if self.overlays.contacts && counts.contacts.is_some() {
            forces(ui);
        }
    }

    fn contents(&mut self, ui: &mut Ui, simulation: &mut Simulation, adapter: &str, actions: &mut Vec<Action>) {
        ui.add_space(8.0);
        match simulation.character() {
            Some(character) => describe(ui, character),
            None => {
                ui.heading(simulation.scene().name());
            }
        }
        self.complaint(ui);
        self.scene(ui, actions);

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
            if simulation.character().is_some() {
                button("Teleport", "T", Action::Teleport);
            }
            button("Reset", "R", Action::Reset);
        });
        ui.horizontal(|ui| {
            let Overlays { rods, pills, contacts } = &mut self.overlays;
            if simulation.character().is_some() {
                ui.checkbox(rods, "Rods").on_hover_text("O");
                ui.checkbox(pills, "Pills").on_hover_text("P");
            }
            ui.checkbox(contacts, "Contacts").on_hover_text("C: where flesh is pressed, along the normal");
            if ui.button("Frame").on_hover_text("F").clicked() {
                actions.push(Action::Frame);
            }
        });

        self.flesh(ui, simulation);
        self.throwing(ui, actions);
        if simulation.character().is_some() {
            motion(ui, simulation);
            material(ui, &mut simulation.settings);
        }
        stepping(ui, &mut simulation.settings);
        self.readings(ui, simulation, adapter);
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
        if simulation.character().is_some() {
            ui.label(format!("largest swing {:.1} mm", 1e3 * simulation.swing()));
        }
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

fn describe(ui: &mut Ui, character: &Character) {
    let (asset, body) = (character.asset(), character.body());
    ui.heading(&asset.name);
    let (muscles, joints, triangles) = (body.flesh.chains().len(), asset.skeleton.joints.len(), body.triangles.len());
    ui.weak(format!("{muscles} muscles · {joints} joints · {triangles} triangles"));
    if muscles == 0 {
        ui.label("No limb of this character takes flesh.");
    }
    let warnings = character.warnings();
    if !warnings.is_empty() {
        ui.collapsing(format!("{} warnings", warnings.len()), |ui| {
            for warning in warnings {
                ui.label(&warning.0);
            }
        });
    }
}

/// Which colours contacts have, and at which forces.
fn forces(ui: &mut Ui) {
    let (place, painter) = ui.allocate_painter(vec2(ui.available_width(), 24.0), Sense::hover());
    let bar = place.rect.with_max_y(place.rect.top() + 8.0);
    const COLUMNS: u8 = 60;
    for column in 0..COLUMNS {
        let [left, right] =
            [column, column + 1].map(|at| bar.left() + bar.width() * f32::from(at) / f32::from(COLUMNS));
        let [r, g, b] = force_colour((f32::from(column) + 0.5) / f32::from(COLUMNS));
        painter.rect_filled(bar.with_min_x(left).with_max_x(right), 0.0, Rgba::from_rgb(r, g, b));
    }
    let (text, font) = (ui.visuals().text_color(), FontId::proportional(10.0));
    let [low, high] = FORCES;
    let decades = (high / low).log10().round() as u8;
    for decade in 0..=decades {
        let align = match decade {
            0 => Align2::LEFT_TOP,
            _ if decade == decades => Align2::RIGHT_TOP,
            _ => Align2::CENTER_TOP,
        };
        let at = pos2(bar.left() + bar.width() * f32::from(decade) / f32::from(decades), bar.bottom() + 2.0);
        painter.text(at, align, format!("{} N", low * 10_f32.powi(decade.into())), font.clone(), text);
    }
}

fn motion(ui: &mut Ui, simulation: &mut Simulation) {
    ui.separator();
    ui.strong("Motion");
    let animations = simulation.character().map_or(&[][..], |character| &character.asset().animations);
    let names: Vec<String> = animations.iter().map(|animation| animation.name.clone()).collect();
    let settings = &mut simulation.settings;
    let name = settings.animation.and_then(|index| names.get(index)).map_or("none (rest pose)", String::as_str);
    ComboBox::from_id_salt("animation").width(180.0).selected_text(name).show_ui(ui, |ui| {
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
    ComboBox::from_id_salt("backend").width(180.0).selected_text(name).show_ui(ui, |ui| {
        for (name, stepper) in BACKENDS {
            ui.selectable_value(&mut settings.stepper, stepper, name);
        }
    });
    ui.add(Slider::new(&mut settings.substeps, 1..=16).text("substeps"));
    ui.add(Slider::new(&mut settings.passes, 0..=16).text("passes")).on_hover_text("0: flesh passes through flesh");
}
