//! Compares what WGSL declares with what Rust declares.

use naga::{AddressSpace, Expression, Literal, Module, StorageAccess, TypeInner};
use sinew::gpu::{Access, ArraySpec, CONSTANTS, FLOAT_CONSTANTS, KernelSpec, STRUCTS};
use sinew::layout::{StructLayout, WORKGROUP_SIZE};

/// Storage buffers that WebGPU's default limits give a stage.
const MAX_BINDINGS: usize = 8;

/// Everything in which the structs, constants and workgroup sizes of `wgsl` differ from the Rust side.
pub fn check_declarations(wgsl: &str) -> Vec<String> {
    let module = match naga::front::wgsl::parse_str(wgsl) {
        Ok(module) => module,
        Err(error) => return vec![error.emit_to_string(wgsl)],
    };
    let mut wrong = Vec::new();
    for (_, ty) in module.types.iter() {
        let (Some(name), TypeInner::Struct { members, span }) = (&ty.name, &ty.inner) else { continue };
        match STRUCTS.iter().find(|rust| rust.name == name) {
            Some(rust) => check_struct(&module, rust, members, *span, &mut wrong),
            // What only kernels know has no twin, unless it lies in memory that the host writes or reads.
            None if is_bound(&module, name) => wrong.push(format!("struct {name} is not in gpu::STRUCTS")),
            None => {}
        }
    }
    for (_, constant) in module.constants.iter() {
        let Some(name) = &constant.name else { continue };
        let value = &module.global_expressions[constant.init];
        let whole = CONSTANTS.iter().copied().flatten().find(|(rust, _)| rust == name);
        let float = FLOAT_CONSTANTS.iter().find(|(rust, _)| rust == name);
        match (value, whole, float) {
            (Expression::Literal(Literal::U32(value)), Some((_, expected)), None) if value == expected => {}
            (Expression::Literal(Literal::F32(value)), None, Some((_, expected))) if value == expected => {}
            other => wrong.push(format!("const {name}: {other:?}")),
        }
    }
    for entry in &module.entry_points {
        if entry.workgroup_size != [WORKGROUP_SIZE, 1, 1] {
            wrong.push(format!("{}: workgroup_size {:?}, not {WORKGROUP_SIZE}", entry.name, entry.workgroup_size));
        }
    }
    wrong
}

/// Whether a struct lies in a buffer.
fn is_bound(module: &Module, name: &str) -> bool {
    module.global_variables.iter().any(|(_, variable)| {
        let inner = match &module.types[variable.ty].inner {
            TypeInner::Array { base, .. } => &module.types[*base],
            _ => &module.types[variable.ty],
        };
        variable.binding.is_some() && inner.name.as_deref() == Some(name)
    })
}

fn check_struct(
    module: &Module,
    rust: &StructLayout,
    members: &[naga::StructMember],
    span: u32,
    wrong: &mut Vec<String>,
) {
    let mut layouter = naga::proc::Layouter::default();
    layouter.update(module.to_ctx()).expect("a parsed module can be laid out");
    if span as usize != rust.stride {
        wrong.push(format!("{}: stride {span}, in Rust {}", rust.name, rust.stride));
    }
    if members.len() != rust.fields.len() {
        wrong.push(format!("{}: {} fields, in Rust {}", rust.name, members.len(), rust.fields.len()));
    }
    for (member, field) in members.iter().zip(rust.fields) {
        let there = (member.name.as_deref().unwrap_or(""), member.offset as usize, layouter[member.ty].size as usize);
        let here = (field.name, field.offset, field.size);
        if there != here {
            wrong.push(format!("{}: (field, offset, size) {there:?}, in Rust {here:?}", rust.name));
        }
    }
}

/// Everything in which a kernel's entry point and bindings differ from its [`KernelSpec`], and its declarations from
/// the Rust side.
pub fn check_kernel(spec: &KernelSpec, arrays: &[ArraySpec]) -> Vec<String> {
    let wgsl = spec.wgsl();
    let mut wrong = check_declarations(&wgsl);
    let Ok(module) = naga::front::wgsl::parse_str(&wgsl) else { return wrong };
    let mut layouter = naga::proc::Layouter::default();
    layouter.update(module.to_ctx()).expect("a parsed module can be laid out");

    if !module.entry_points.iter().any(|entry| entry.name == spec.entry) {
        wrong.push(format!("{}: no entry point {}", spec.stage, spec.entry));
    }
    let bindings = match spec.bindings(arrays) {
        Ok(bindings) => bindings,
        Err(message) => {
            wrong.push(message);
            return wrong;
        }
    };
    if bindings.len() > MAX_BINDINGS {
        wrong.push(format!("{}: {} storage buffers, more than {MAX_BINDINGS}", spec.stage, bindings.len()));
    }
    for (_, variable) in module.global_variables.iter() {
        let Some(at) = variable.binding else { continue };
        let name = variable.name.as_deref().unwrap_or("");
        let access = match variable.space {
            AddressSpace::Uniform => None,
            AddressSpace::Storage { access } if access.contains(StorageAccess::STORE) => Some(Access::ReadWrite),
            _ => Some(Access::Read),
        };
        let expected = match at.binding {
            0 => Some(("params", None)),
            n => bindings.get(n as usize - 1).map(|(array, access)| (arrays[array.0].name, Some(*access))),
        };
        if at.group != 0 || expected != Some((name, access)) {
            wrong.push(format!("{}: {name} {at:?} {access:?}, in Rust {expected:?}", spec.stage));
        }
        if let (TypeInner::Array { stride, .. }, Some((array, _))) =
            (&module.types[variable.ty].inner, bindings.get((at.binding as usize).wrapping_sub(1)))
            && !arrays[array.0].row_bytes.is_multiple_of(u64::from(*stride))
        {
            wrong.push(format!("{name}: stride {stride}, rows of {} bytes", arrays[array.0].row_bytes));
        }
    }
    wrong
}
