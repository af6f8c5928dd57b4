//! Window events, time, and what a frame does.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use glam::DVec3;
use sinew::character::ImportOptions;
use sinew::{Backend, FixedStep};
use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::{ElementState, KeyEvent, MouseButton, MouseScrollDelta, WindowEvent};
use winit::event_loop::ActiveEventLoop;
use winit::keyboard::{Key, ModifiersState, NamedKey};
use winit::window::{Window, WindowId};

use crate::camera::OrbitCamera;
use crate::graphics::{Graphics, Painting};
use crate::heap::SceneName;
use crate::shown::Shown;
use crate::simulation::{Settings, Simulation};
use crate::stage::{Overlays, Stage};
use crate::ui::{self, Action, Panel};
use crate::{Arguments, BackendArgument};

/// Where teleports lead, one after another (m); the last is 5 km from the world's origin.
const PLACES: [DVec3; 3] = [DVec3::ZERO, DVec3::new(1.5, 0.0, 0.0), DVec3::new(3000.0, 0.0, -4000.0)];

/// From how far above the horizon a heap is seen (rad).
const HEAP_PITCH: f32 = 0.6;

/// Linear RGBA of surfaces without a colour of their own.
const CLAY: [f32; 4] = [0.62, 0.52, 0.45, 1.0];

/// Window and graphics, once there are any.
struct Screen {
    window: Arc<Window>,
    graphics: Graphics,
    input: egui_winit::State,
}

/// The viewer.
pub struct App {
    arguments: Arguments,
    /// The last character that was there.
    file: PathBuf,
    screen: Option<Screen>,
    simulation: Option<Simulation>,
    panel: Panel,
    camera: OrbitCamera,
    steps: FixedStep,
    /// The last two steps, and what is drawn of them.
    last: Shown,
    now: Shown,
    drawn: Shown,
    /// Where between the two (0 to 1).
    alpha: f64,
    /// A ball around the character or the heap: from its root to the centre (m), and radius (m).
    ball: (DVec3, f32),
    place: usize,
    pointer: Pointer,
    frame_start: Instant,
    frames: u32,
    /// What ended the program, if anything did.
    failure: Option<Box<dyn Error>>,
}

#[derive(Default)]
struct Pointer {
    at: [f32; 2],
    held: Option<MouseButton>,
    modifiers: ModifiersState,
}

impl App {
    /// As the arguments say.
    pub fn new(arguments: Arguments) -> Self {
        let Arguments { rods, pills, contacts, .. } = arguments;
        let mut panel = Panel::default();
        panel.overlays = Overlays { rods, pills, contacts };
        panel.scene = arguments.scene;
        panel.count = arguments.count.map_or(panel.count, usize::from);
        panel.throw.projectile = arguments.throw.unwrap_or(panel.throw.projectile);
        let mut app = Self {
            file: arguments.file.clone(),
            screen: None,
            simulation: None,
            panel,
            camera: OrbitCamera::framing(DVec3::Y, 1.0),
            steps: FixedStep::new(1.0 / 60.0),
            last: Shown::default(),
            now: Shown::default(),
            drawn: Shown::default(),
            alpha: 1.0,
            ball: (DVec3::Y, 1.0),
            place: 0,
            pointer: Pointer::default(),
            frame_start: Instant::now(),
            frames: 0,
            failure: None,
            arguments,
        };
        app.open_scene();
        if app.arguments.throw.is_some() {
            app.throw();
        }
        app
    }

    /// What the program ends with.
    pub fn outcome(self) -> Result<(), Box<dyn Error>> {
        match (self.failure, self.panel.error) {
            (Some(failure), _) => Err(failure),
            (None, Some(error)) if self.arguments.screenshot.is_some() => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Loads a character, named on the command line or dropped; what was there stays where that fails.
    fn load(&mut self, path: &Path) {
        let settings = Settings { animation: Some(0), sway: self.arguments.sway, ..self.settings() };
        let import = ImportOptions { meters_per_unit: self.arguments.meters_per_unit, ..Default::default() };
        match Simulation::load(path, &import, settings) {
            Ok(simulation) => {
                self.file = path.to_path_buf();
                self.begin(simulation);
            }
            Err(error) => self.panel.error = Some(error.to_string()),
        }
    }

    /// Opens the scene that the panel names; what was there stays where that fails.
    fn open_scene(&mut self) {
        match self.panel.scene {
            SceneName::Character => self.load(&self.file.clone()),
            heap => match Simulation::open(heap, self.panel.count, self.settings()) {
                Ok(simulation) => self.begin(simulation),
                Err(error) => self.panel.error = Some(error.to_string()),
            },
        }
        self.panel.scene = self.simulation.as_ref().map_or(self.panel.scene, Simulation::scene);
    }

    fn settings(&self) -> Settings {
        self.simulation.as_ref().map_or_else(Settings::default, |old| old.settings.clone())
    }

    /// Shows another scene from its start.
    fn begin(&mut self, mut simulation: Simulation) {
        simulation.device = self.screen.as_ref().map(|screen| screen.graphics.shared());
        self.panel.error = None;
        (self.panel.scene, self.panel.dropped) = (simulation.scene(), self.panel.count);
        let [low, high] = simulation.bounds();
        self.ball = ((low + high) * 0.5 - simulation.home.translation, 0.5 * (high - low).length() as f32);
        let chosen = simulation.scene() == SceneName::Character
            && self.simulation.as_ref().is_some_and(|old| old.scene() == SceneName::Character);
        self.simulation = Some(simulation);
        if !chosen {
            self.choose_backend();
        }
        self.place = 0;
        self.load_skin();
        self.catch_up();
        self.frame_scene();
    }

    fn load_skin(&mut self) {
        let (Some(screen), Some(simulation)) = (&mut self.screen, &self.simulation) else { return };
        let Some(character) = simulation.character() else {
            screen.graphics.renderer.skin = None;
            return;
        };
        let mesh = &character.asset().mesh;
        // White is what a textured surface has without its texture; clay shows its shape better.
        let clay = |&colour: &[f32; 4]| if colour[..3] == [1.0; 3] { CLAY } else { colour };
        let colours: Vec<[f32; 4]> = mesh.triangle_colors.iter().map(clay).collect();
        let corners = (&character.body().triangles[..], &colours[..]);
        screen.graphics.renderer.load_skin(&screen.graphics.device, mesh.positions.len(), corners);
        self.take_skin();
    }

    /// Has the skin after the last step drawn.
    fn take_skin(&mut self) {
        let (Some(screen), Some(simulation)) = (&mut self.screen, &self.simulation) else { return };
        let Graphics { renderer, device, queue, .. } = &mut screen.graphics;
        let taken = match (&mut renderer.skin, simulation.skin()) {
            (Some(skin), Ok(Some(source))) => {
                skin.take(device, queue, &source);
                Ok(())
            }
            (_, source) => source.map(|_| ()),
        };
        self.complain(Some(taken));
    }

    /// Has the skin that is drawn drawn as that of the step before, too.
    fn keep_skin(&self) {
        let Some(Graphics { renderer, device, queue, .. }) = self.screen.as_ref().map(|screen| &screen.graphics) else {
            return;
        };
        if let Some(skin) = &renderer.skin {
            skin.keep(device, queue);
        }
    }

    /// Shows the scene as it stands, with nothing to interpolate from.
    fn catch_up(&mut self) {
        self.show_step();
        self.last.clone_from(&self.now);
        self.keep_skin();
    }

    fn show_step(&mut self) {
        std::mem::swap(&mut self.last, &mut self.now);
        self.show();
        self.take_skin();
    }

    fn show(&mut self) {
        let shown = self.simulation.as_ref().map(|simulation| simulation.show(&mut self.now));
        self.complain(shown);
    }

    /// Rods where the skin is, if any are drawn.
    fn settle(&mut self) {
        let drawn = self.panel.overlays.rods || !self.now.bare.is_empty();
        if let (true, Some(simulation)) = (drawn, &mut self.simulation) {
            match simulation.settle() {
                Ok(true) => self.show(),
                Ok(false) => {}
                Err(error) => self.complain(Some(Err(error))),
            }
        }
    }

    fn complain(&mut self, result: Option<Result<(), Box<dyn Error>>>) {
        if let Some(Err(error)) = result {
            self.panel.error = Some(error.to_string());
            self.panel.paused = true;
        }
    }

    fn frame_scene(&mut self) {
        let home = self.simulation.as_ref().map_or(DVec3::ZERO, |simulation| simulation.home.translation);
        self.camera = OrbitCamera::framing(home + self.ball.0, 0.9 * self.ball.1);
        if self.panel.scene != SceneName::Character {
            self.camera.pitch = HEAP_PITCH;
            // It comes down.
            self.camera.target.y *= 0.4;
        }
    }

    fn step(&mut self) {
        self.keep_skin();
        let stepped = self.simulation.as_mut().map(|simulation| simulation.step(self.steps.dt));
        self.complain(stepped);
        self.show_step();
    }

    /// Throws what the panel says from the camera, in its direction.
    fn throw(&mut self) {
        let Some(simulation) = &mut self.simulation else { return };
        match simulation.throw(&self.panel.throw, self.camera.ray()) {
            Ok(()) => {
                self.panel.error = None;
                self.show();
            }
            Err(error) => self.panel.error = Some(error.to_string()),
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Step => self.step(),
            Action::Teleport if self.panel.scene != SceneName::Character => {}
            Action::Teleport => {
                self.place = (self.place + 1) % PLACES.len();
                let (from, to) = (PLACES[(self.place + PLACES.len() - 1) % PLACES.len()], PLACES[self.place]);
                let moved = self.simulation.as_mut().map(|simulation| {
                    let home = simulation.home.translation;
                    simulation.teleport(home + to - from)
                });
                self.camera.target += to - from;
                self.complain(moved);
                self.step();
                self.catch_up();
            }
            Action::Open => self.open_scene(),
            Action::Throw => self.throw(),
            Action::Reset if self.panel.scene != SceneName::Character => self.open_scene(),
            Action::Reset => {
                let reset = self.simulation.as_mut().map(Simulation::reset);
                self.complain(reset);
                self.step();
                self.catch_up();
            }
            Action::Frame => self.frame_scene(),
        }
    }

    /// Steps by the time since the last frame; a screenshot's frames are a step each.
    fn advance(&mut self) {
        let elapsed = self.frame_start.elapsed().as_secs_f64();
        self.frame_start = Instant::now();
        let time = if self.arguments.screenshot.is_some() { self.steps.dt } else { elapsed };
        let steps = if self.panel.paused { 0 } else { self.steps.advance(time) };
        let start = Instant::now();
        (0..steps).for_each(|_| self.step());
        self.settle();
        self.panel.record(elapsed as f32 * 1e3, start.elapsed().as_secs_f32() * 1e3);
        self.alpha = if self.panel.paused || self.arguments.screenshot.is_some() { 1.0 } else { self.steps.alpha() };
        self.now.between(&self.last, self.alpha, &mut self.drawn);
    }

    fn frame(&mut self, event_loop: &ActiveEventLoop) {
        self.advance();
        let Some(screen) = &mut self.screen else { return };
        let mut actions = Vec::new();
        let input = screen.input.take_egui_input(&screen.window);
        let context = screen.input.egui_ctx().clone();
        let output = context.run_ui(input, |root| {
            actions.extend(self.panel.show(root, self.simulation.as_mut(), &screen.graphics.adapter));
        });
        screen.input.handle_platform_output(&screen.window, output.platform_output);
        let pixels_per_point = output.pixels_per_point;
        let jobs = context.tessellate(output.shapes, pixels_per_point);
        let mut painting = Painting { jobs, textures: output.textures_delta, pixels_per_point };

        let (centre, radius) = self.ball;
        let stage = Stage {
            shown: &self.drawn,
            alpha: self.alpha as f32,
            camera: &self.camera,
            ball: (self.drawn.root.translation + centre, radius * 1.3),
            overlays: self.panel.overlays,
        };
        let draw = |graphics: &mut Graphics, encoder: &mut wgpu::CommandEncoder, view: &wgpu::TextureView| {
            let target = graphics.target(view, ui::WIDTH * pixels_per_point);
            let Graphics { renderer, device, queue, .. } = graphics;
            stage.draw(renderer, (device, queue), encoder, &target);
        };
        self.frames += 1;
        let last = self.frames >= self.arguments.frames.max(1);
        match &self.arguments.screenshot {
            Some(path) if last => {
                self.failure = screen.graphics.save(path, draw, &mut painting).err();
                event_loop.exit();
            }
            _ => screen.graphics.present(&screen.window, draw, &mut painting),
        }
        actions.into_iter().for_each(|action| self.act(action));
    }

    fn open(&mut self, event_loop: &ActiveEventLoop) -> Result<(), Box<dyn Error>> {
        let attributes = Window::default_attributes().with_title("Sinew").with_inner_size(LogicalSize::new(1280, 800));
        let window = Arc::new(event_loop.create_window(attributes)?);
        let graphics = Graphics::new(&window, event_loop.owned_display_handle())?;
        let context = egui::Context::default();
        let side = graphics.device.limits().max_texture_dimension_2d as usize;
        let input = egui_winit::State::new(context, egui::ViewportId::ROOT, &window, None, None, Some(side));
        self.screen = Some(Screen { window, graphics, input });
        if let (Some(screen), Some(simulation)) = (&self.screen, &mut self.simulation) {
            simulation.device = Some(screen.graphics.shared());
        }
        self.choose_backend();
        self.load_skin();
        self.frame_start = Instant::now();
        Ok(())
    }

    /// Steps by what the command line asks for: a character by the GPU that draws, unless that is software.
    fn choose_backend(&mut self) {
        let hardware = self.screen.as_ref().is_some_and(|screen| !screen.graphics.software);
        if let Some(simulation) = &mut self.simulation {
            simulation.settings.stepper.0 = match self.arguments.backend {
                BackendArgument::Auto if hardware && simulation.character().is_some() => Backend::Gpu,
                BackendArgument::Auto | BackendArgument::Cpu => Backend::Cpu,
                BackendArgument::Gpu => Backend::Gpu,
            };
        }
    }

    fn key(&mut self, event: &KeyEvent) {
        if event.state != ElementState::Pressed {
            return;
        }
        let overlays = &mut self.panel.overlays;
        match event.logical_key.as_ref() {
            Key::Named(NamedKey::Space) => self.panel.paused = !self.panel.paused,
            Key::Named(NamedKey::ArrowRight) => self.act(Action::Step),
            Key::Character("t") => self.act(Action::Teleport),
            Key::Character("r") => self.act(Action::Reset),
            Key::Character("f") => self.act(Action::Frame),
            Key::Character("g") if !event.repeat => self.act(Action::Throw),
            Key::Character("o") => overlays.rods = !overlays.rods,
            Key::Character("p") => overlays.pills = !overlays.pills,
            Key::Character("c") => overlays.contacts = !overlays.contacts,
            _ => {}
        }
    }

    fn drag(&mut self, to: [f32; 2]) {
        let height = self.screen.as_ref().map_or(1.0, |screen| screen.graphics.size()[1] as f32);
        let [right, down] = [0, 1].map(|axis| (to[axis] - self.pointer.at[axis]) / height);
        match self.pointer.held {
            Some(MouseButton::Left) if self.pointer.modifiers.shift_key() => {
                if let Some(simulation) = &mut self.simulation {
                    simulation.home.translation += self.camera.drag(right, down).as_dvec3();
                }
            }
            Some(MouseButton::Left) => self.camera.orbit(right, down),
            Some(MouseButton::Right | MouseButton::Middle) => self.camera.pan(right, down),
            _ => {}
        }
    }
}

impl ApplicationHandler for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.screen.is_none()
            && let Err(error) = self.open(event_loop)
        {
            self.failure = Some(error);
            event_loop.exit();
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(screen) = &mut self.screen else { return };
        let taken = screen.input.on_window_event(&screen.window, &event).consumed;
        let over_panel = screen.input.egui_ctx().egui_wants_pointer_input();
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::Resized(size) => screen.graphics.resize(size.into()),
            WindowEvent::RedrawRequested => self.frame(event_loop),
            WindowEvent::DroppedFile(path) => self.load(&path),
            WindowEvent::ModifiersChanged(modifiers) => self.pointer.modifiers = modifiers.state(),
            WindowEvent::CursorMoved { position, .. } => {
                let to = [position.x as f32, position.y as f32];
                self.drag(to);
                self.pointer.at = to;
            }
            WindowEvent::MouseInput { state, button, .. } => {
                let press = state == ElementState::Pressed && !over_panel;
                self.pointer.held = press.then_some(button);
            }
            WindowEvent::MouseWheel { delta, .. } if !over_panel => self.camera.zoom(match delta {
                MouseScrollDelta::LineDelta(_, lines) => lines,
                MouseScrollDelta::PixelDelta(pixels) => pixels.y as f32 / 40.0,
            }),
            WindowEvent::KeyboardInput { event, .. } if !taken => self.key(&event),
            _ => {}
        }
    }

    fn about_to_wait(&mut self, _: &ActiveEventLoop) {
        if let Some(screen) = &self.screen {
            screen.window.request_redraw();
        }
    }
}

#[cfg(test)]
mod tests;
