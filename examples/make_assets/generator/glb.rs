//! A model as a binary glTF 2.0 file.

use super::muscles::muscle_extras;
use super::{Model, Surface, Track};
use gltf_json as json;
use json::accessor::{ComponentType, GenericComponentType, Type};
use json::animation::{Channel, Interpolation, Property, Sampler};
use json::buffer::{Stride, Target, View};
use json::mesh::{Mode, Primitive, Semantic};
use json::validation::{Checked::Valid, USize64};
use json::{Accessor, Index, Node, Root, Value};

/// The document and the bytes it points into.
#[derive(Default)]
struct Writer {
    root: Root,
    bytes: Vec<u8>,
}

/// What an array holds.
struct Layout {
    component: ComponentType,
    type_: Type,
    target: Option<Target>,
    limits: Option<(Value, Value)>,
}

impl Layout {
    fn new(component: ComponentType, type_: Type) -> Self {
        Self { component, type_, target: None, limits: None }
    }

    fn vertices(mut self) -> Self {
        self.target = Some(Target::ArrayBuffer);
        self
    }
}

impl Model {
    /// The file's bytes.
    pub fn to_glb(&self) -> Result<Vec<u8>, json::Error> {
        let mut writer = Writer::default();
        writer.write(self);
        let mut text = json::serialize::to_vec(&writer.root)?;
        text.resize(text.len().next_multiple_of(4), b' ');
        writer.bytes.resize(writer.bytes.len().next_multiple_of(4), 0);
        let chunk = |kind: &[u8; 4], data: &[u8]| [&(data.len() as u32).to_le_bytes()[..], kind, data].concat();
        let body = [chunk(b"JSON", &text), chunk(b"BIN\0", &writer.bytes)].concat();
        let header = [*b"glTF", 2u32.to_le_bytes(), (12 + body.len() as u32).to_le_bytes()].concat();
        Ok([header, body].concat())
    }
}

impl Writer {
    fn write(&mut self, model: &Model) {
        self.root.asset.generator = Some("sinew make_assets".into());
        self.root.asset.copyright = model.copyright.map(Into::into);
        for material in &model.materials {
            self.root.materials.push(json::Material {
                name: Some(material.name.into()),
                pbr_metallic_roughness: json::material::PbrMetallicRoughness {
                    base_color_factor: json::material::PbrBaseColorFactor(material.base_colour),
                    metallic_factor: json::material::StrengthFactor(0.0),
                    roughness_factor: json::material::StrengthFactor(material.roughness),
                    ..Default::default()
                },
                ..Default::default()
            });
        }
        let primitives = model.surfaces.iter().map(|s| self.primitive(s)).collect();
        let mesh = self.root.push(json::Mesh {
            extensions: None,
            extras: Default::default(),
            name: Some(model.name.into()),
            primitives,
            weights: None,
        });
        self.nodes(model);
        let joints: Vec<Index<Node>> = (0..model.joints.len() as u32).map(Index::new).collect();
        let inverse: Vec<f32> = model
            .joints
            .iter()
            .flat_map(|j| [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., -j.place.x, -j.place.y, -j.place.z, 1.])
            .collect();
        let inverse = self.floats(inverse, joints.len(), Layout::new(ComponentType::F32, Type::Mat4));
        let skin = self.root.push(json::Skin {
            extensions: None,
            extras: Default::default(),
            inverse_bind_matrices: Some(inverse),
            joints,
            name: Some(model.name.into()),
            skeleton: Some(Index::new(0)),
        });
        let skinned = self.root.push(Node {
            mesh: Some(mesh),
            skin: Some(skin),
            name: Some(model.name.into()),
            ..Default::default()
        });
        self.animation(model);
        let scene = self.root.push(json::Scene {
            extensions: None,
            extras: Default::default(),
            name: None,
            nodes: vec![Index::new(0), skinned],
        });
        self.root.scene = Some(scene);
        self.root.push(json::Buffer {
            byte_length: USize64::from(self.bytes.len().next_multiple_of(4)),
            name: None,
            uri: None,
            extensions: None,
            extras: Default::default(),
        });
    }

    /// One node per joint, in the joints' order, then one per muscle on the joint of its origin.
    fn nodes(&mut self, model: &Model) {
        let first_muscle = model.joints.len() as u32;
        for (index, joint) in model.joints.iter().enumerate() {
            let parent = joint.parent.map_or(glam::Vec3::ZERO, |p| model.joints[p].place);
            let children: Vec<Index<Node>> = (0u32..)
                .zip(&model.joints)
                .filter(|(_, child)| child.parent == Some(index))
                .map(|(i, _)| Index::new(i))
                .chain(
                    (first_muscle..)
                        .zip(&model.muscles)
                        .filter(|(_, muscle)| muscle.origin.joint as usize == index)
                        .map(|(i, _)| Index::new(i)),
                )
                .collect();
            self.root.nodes.push(Node {
                name: Some(joint.name.clone()),
                translation: Some((joint.place - parent).to_array()),
                children: (!children.is_empty()).then_some(children),
                ..Default::default()
            });
        }
        for muscle in &model.muscles {
            self.root.nodes.push(Node {
                name: Some(muscle.name.clone()),
                translation: muscle.origin.place.map(|place| place.as_vec3().to_array()),
                extras: Some(muscle_extras(muscle, &model.joints)),
                ..Default::default()
            });
        }
    }

    fn primitive(&mut self, surface: &Surface) -> Primitive {
        let count = surface.positions.len();
        let low = surface.positions.iter().fold(glam::Vec3::INFINITY, |m, &p| m.min(p));
        let high = surface.positions.iter().fold(glam::Vec3::NEG_INFINITY, |m, &p| m.max(p));
        let limits = Some((Value::from(low.to_array().to_vec()), Value::from(high.to_array().to_vec())));
        let vectors = || Layout::new(ComponentType::F32, Type::Vec3).vertices();
        let flat = |v: &[glam::Vec3]| v.iter().flat_map(|p| p.to_array()).collect::<Vec<f32>>();
        let positions = self.floats(flat(&surface.positions), count, Layout { limits, ..vectors() });
        let normals = self.floats(flat(&surface.normals), count, vectors());
        let weights =
            self.floats(surface.weights.concat(), count, Layout::new(ComponentType::F32, Type::Vec4).vertices());
        let joints = self.array(&surface.joints.concat(), count, Layout::new(ComponentType::U8, Type::Vec4).vertices());
        let corners: Vec<u8> = surface.triangles.concat().iter().flat_map(|&v| (v as u16).to_le_bytes()).collect();
        let layout =
            Layout { target: Some(Target::ElementArrayBuffer), ..Layout::new(ComponentType::U16, Type::Scalar) };
        let indices = self.array(&corners, surface.triangles.len() * 3, layout);
        Primitive {
            attributes: [
                (Valid(Semantic::Positions), positions),
                (Valid(Semantic::Normals), normals),
                (Valid(Semantic::Joints(0)), joints),
                (Valid(Semantic::Weights(0)), weights),
            ]
            .into(),
            extensions: None,
            extras: Default::default(),
            indices: Some(indices),
            material: Some(Index::new(surface.material as u32)),
            mode: Valid(Mode::Triangles),
            targets: None,
        }
    }

    fn animation(&mut self, model: &Model) {
        let limit = |t: Option<&f32>| Value::from(vec![t.copied().unwrap_or(0.0)]);
        let limits = Some((limit(model.times.first()), limit(model.times.last())));
        let keys = model.times.len();
        let layout = Layout { limits, ..Layout::new(ComponentType::F32, Type::Scalar) };
        let input = self.floats(model.times.clone(), keys, layout);
        let (mut channels, mut samplers) = (Vec::new(), Vec::new());
        for track in &model.tracks {
            let (joint, path, values, type_) = match track {
                Track::Rotation(joint, keys) => {
                    (*joint, Property::Rotation, keys.iter().flat_map(|q| q.to_array()).collect(), Type::Vec4)
                }
                Track::Translation(joint, keys) => {
                    (*joint, Property::Translation, keys.iter().flat_map(|p| p.to_array()).collect(), Type::Vec3)
                }
            };
            let output = self.floats(values, keys, Layout::new(ComponentType::F32, type_));
            let sampler = Index::push(
                &mut samplers,
                Sampler {
                    extensions: None,
                    extras: Default::default(),
                    input,
                    interpolation: Valid(Interpolation::Linear),
                    output,
                },
            );
            let target = json::animation::Target {
                extensions: None,
                extras: Default::default(),
                node: Index::new(joint as u32),
                path: Valid(path),
            };
            channels.push(Channel { sampler, target, extensions: None, extras: Default::default() });
        }
        self.root.animations.push(json::Animation {
            extensions: None,
            extras: Default::default(),
            channels,
            name: Some(model.animation.into()),
            samplers,
        });
    }

    fn floats(&mut self, values: Vec<f32>, count: usize, layout: Layout) -> Index<Accessor> {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.array(&bytes, count, layout)
    }

    fn array(&mut self, bytes: &[u8], count: usize, layout: Layout) -> Index<Accessor> {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let vertices = layout.target == Some(Target::ArrayBuffer);
        let view = self.root.push(View {
            buffer: Index::new(0),
            byte_length: USize64::from(bytes.len()),
            byte_offset: Some(USize64::from(self.bytes.len())),
            byte_stride: vertices.then(|| Stride(bytes.len() / count.max(1))),
            name: None,
            target: layout.target.map(Valid),
            extensions: None,
            extras: Default::default(),
        });
        self.bytes.extend_from_slice(bytes);
        let (min, max) = layout.limits.unzip();
        self.root.push(Accessor {
            buffer_view: Some(view),
            byte_offset: Some(USize64(0)),
            count: USize64::from(count),
            component_type: Valid(GenericComponentType(layout.component)),
            extensions: None,
            extras: Default::default(),
            type_: Valid(layout.type_),
            min,
            max,
            name: None,
            normalized: false,
            sparse: None,
        })
    }
}
