//! Shaders, layouts and pipelines.

use super::{DEPTH_FORMAT, Detail, SAMPLES};

/// Everything that does not change while the viewer runs.
pub struct Pipelines {
    /// Group 0: the view.
    pub view_layout: wgpu::BindGroupLayout,
    /// Group 1 of the skin.
    pub skin_layout: wgpu::BindGroupLayout,
    /// Group 1 of overlays.
    pub hulls_layout: wgpu::BindGroupLayout,
    /// Group 2: the shadow map.
    pub shadow_layout: wgpu::BindGroupLayout,
    /// Floor and sky.
    pub floor: wgpu::RenderPipeline,
    /// The skin, lit.
    pub skin: wgpu::RenderPipeline,
    /// The skin as the key light sees it.
    pub shadow: wgpu::RenderPipeline,
    /// Flesh without a skin, lit.
    pub bare: wgpu::RenderPipeline,
    /// Flesh without a skin as the key light sees it.
    pub bare_shadow: wgpu::RenderPipeline,
    /// An overlay's depth alone, then its nearest surface, blended over the picture.
    pub overlay: [wgpu::RenderPipeline; 2],
    /// As `overlay`, of lines.
    pub line: [wgpu::RenderPipeline; 2],
}

impl Pipelines {
    /// For pictures in a format.
    pub fn new(device: &wgpu::Device, format: wgpu::TextureFormat) -> Self {
        const SCENE: &str = include_str!("scene.wgsl");
        const SHADOW: &str = include_str!("shadow.wgsl");
        const LIT: &str = include_str!("lit.wgsl");
        const HULL: &str = include_str!("hull.wgsl");
        let module = |label, parts: &[&str]| {
            device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(label),
                source: wgpu::ShaderSource::Wgsl(parts.concat().into()),
            })
        };
        let floor_module = module("floor", &[SCENE, SHADOW, include_str!("floor.wgsl")]);
        let skin_module = module("skin", &[SCENE, SHADOW, LIT, include_str!("skin.wgsl")]);
        let overlay_module = module("overlay", &[SCENE, HULL, include_str!("overlay.wgsl")]);
        let bare_module = module("bare", &[SCENE, SHADOW, LIT, HULL, include_str!("bare.wgsl")]);

        let view_layout = layout(device, "view", &[UNIFORM]);
        let skin_layout = layout(device, "skin", &[UNIFORM, STORAGE, STORAGE, STORAGE, STORAGE]);
        let hulls_layout = layout(device, "hulls", &[STORAGE]);
        let shadow_layout = layout(
            device,
            "shadow",
            &[
                wgpu::BindingType::Texture {
                    sample_type: wgpu::TextureSampleType::Depth,
                    view_dimension: wgpu::TextureViewDimension::D2,
                    multisampled: false,
                },
                wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Comparison),
            ],
        );

        let colour = |blend, write_mask| Some(wgpu::ColorTargetState { format, blend, write_mask });
        let solid = colour(None, wgpu::ColorWrites::ALL);
        let blended = colour(Some(wgpu::BlendState::ALPHA_BLENDING), wgpu::ColorWrites::ALL);
        let nothing = colour(None, wgpu::ColorWrites::empty());
        let base = Recipe {
            device,
            module: &skin_module,
            groups: [Some(&view_layout), Some(&skin_layout), Some(&shadow_layout)],
            entries: ["skin_vertex", "skin_fragment"],
            target: solid.clone(),
            depth_write: true,
            samples: SAMPLES,
            detail: None,
        };
        let over_picture = |overlay: &Recipe| {
            let surface = Recipe { target: blended.clone(), depth_write: false, ..overlay.clone() };
            [Recipe { target: nothing.clone(), ..overlay.clone() }, surface].map(|recipe| recipe.pipeline())
        };
        let overlay = Recipe {
            module: &overlay_module,
            groups: [Some(&view_layout), Some(&hulls_layout), None],
            entries: ["overlay_vertex", "overlay_fragment"],
            detail: Some(Detail::FINE),
            ..base.clone()
        };
        let bare = Recipe {
            module: &bare_module,
            groups: [Some(&view_layout), Some(&hulls_layout), Some(&shadow_layout)],
            entries: ["bare_vertex", "bare_fragment"],
            detail: Some(Detail::PLAIN),
            ..base.clone()
        };
        Self {
            bare_shadow: Recipe {
                groups: [Some(&view_layout), Some(&hulls_layout), None],
                entries: ["bare_shadow_vertex", ""],
                target: None,
                samples: 1,
                ..bare.clone()
            }
            .pipeline(),
            bare: bare.pipeline(),
            floor: Recipe {
                module: &floor_module,
                groups: [Some(&view_layout), None, Some(&shadow_layout)],
                entries: ["floor_vertex", "floor_fragment"],
                ..base.clone()
            }
            .pipeline(),
            shadow: Recipe {
                groups: [Some(&view_layout), Some(&skin_layout), None],
                entries: ["shadow_vertex", ""],
                target: None,
                samples: 1,
                ..base.clone()
            }
            .pipeline(),
            overlay: over_picture(&overlay),
            line: over_picture(&Recipe { detail: Some(Detail::LINE), ..overlay }),
            skin: base.pipeline(),
            view_layout,
            skin_layout,
            hulls_layout,
            shadow_layout,
        }
    }
}

const UNIFORM: wgpu::BindingType = buffer(wgpu::BufferBindingType::Uniform);
const STORAGE: wgpu::BindingType = buffer(wgpu::BufferBindingType::Storage { read_only: true });

const fn buffer(ty: wgpu::BufferBindingType) -> wgpu::BindingType {
    wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None }
}

fn layout(device: &wgpu::Device, label: &str, types: &[wgpu::BindingType]) -> wgpu::BindGroupLayout {
    let entries: Vec<_> = (0..)
        .zip(types)
        .map(|(binding, &ty)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
            ty,
            count: None,
        })
        .collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some(label), entries: &entries })
}

/// What tells pipelines apart.
#[derive(Clone)]
struct Recipe<'a> {
    device: &'a wgpu::Device,
    module: &'a wgpu::ShaderModule,
    groups: [Option<&'a wgpu::BindGroupLayout>; 3],
    /// The vertex and the fragment stage; the latter only where there is a target.
    entries: [&'a str; 2],
    target: Option<wgpu::ColorTargetState>,
    depth_write: bool,
    samples: u32,
    /// Of hulls.
    detail: Option<Detail>,
}

impl Recipe<'_> {
    fn pipeline(&self) -> wgpu::RenderPipeline {
        let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(self.entries[0]),
            bind_group_layouts: &self.groups,
            immediate_size: 0,
        });
        let targets = [self.target.clone()];
        let constants = self.detail.map(Detail::constants);
        let constants = constants.as_ref().map_or(&[][..], |constants| constants);
        let compilation_options = wgpu::PipelineCompilationOptions { constants, ..Default::default() };
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(self.entries[0]),
            layout: Some(&layout),
            vertex: wgpu::VertexState {
                module: self.module,
                entry_point: Some(self.entries[0]),
                compilation_options: compilation_options.clone(),
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH_FORMAT,
                depth_write_enabled: Some(self.depth_write),
                depth_compare: Some(wgpu::CompareFunction::LessEqual),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            }),
            multisample: wgpu::MultisampleState { count: self.samples, ..Default::default() },
            fragment: self.target.as_ref().map(|_| wgpu::FragmentState {
                module: self.module,
                entry_point: Some(self.entries[1]),
                compilation_options,
                targets: &targets,
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}
