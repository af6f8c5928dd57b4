//! A corrective network ready to run.

use super::basis::{BLOCK, BLOCK_VALUES, Basis, Precision, StoredBasis};
use super::{ErrorRow, Layers, MeshHash, NetworkError, NetworkFault, NetworkSpec, PartSpec};

/// Of most things a network has no more: joints, muscles, hidden units, components.
const MOST_UNITS: usize = 4096;

/// How far a network may move a vertex (m).
pub(crate) const MOST_REACH: f64 = 1.0e4;

/// The most by which a row of zeros may be multiplied, its scale times its coefficient: beyond it what has overflowed times 0 would
/// be NaN. Other rows keep to far less, by [`MOST_REACH`].
const MOST_FACTOR: f64 = 1.0e30;

/// One of the two networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Which {
    /// Reads joints.
    Passive,
    /// Reads muscles.
    Active,
}

impl Which {
    /// Both, in order.
    pub const BOTH: [Self; 2] = [Self::Passive, Self::Active];

    /// How its tensors' names begin.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passive => "passive",
            Self::Active => "active",
        }
    }
}

/// What holds of a pair of networks as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Header {
    pub joints: Vec<String>,
    pub muscles: Vec<String>,
    pub vertex_count: usize,
    pub mesh: MeshHash,
    pub threshold: f32,
    pub dropped: f32,
    pub errors: Vec<ErrorRow>,
}

/// A network as a file has it.
pub(super) struct StoredPart<'a> {
    /// Without its basis.
    pub spec: PartSpec,
    pub basis: StoredBasis<'a>,
}

/// A pair of corrective networks for one mesh; immutable, to be shared. See [`crate::neural`].
#[derive(Clone, Debug, PartialEq)]
pub struct CorrectiveNetwork {
    pub(super) header: Header,
    /// Mean displacement (m), x, y, z of each vertex.
    pub(crate) mean: Vec<f32>,
    /// Passive, active.
    pub(crate) parts: [Option<Layers>; 2],
    /// Both networks' components, the passive one's first.
    pub(crate) basis: Basis,
    reach: f64,
}

/// What one of the two networks is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkPart {
    /// Inputs: 9 a joint, 1 a muscle.
    pub inputs: usize,
    /// Units of its hidden layers.
    pub hidden: [usize; 2],
    /// Components of its analysis.
    pub components: usize,
    /// Pairs of a component and a block of vertices that it moves.
    pub rows: usize,
}

impl CorrectiveNetwork {
    /// A network whose basis is stored in `precision`, without what a component moves by no more than `threshold` (m) at the ends of
    /// its range.
    ///
    /// # Errors
    /// The first entry of the spec that is not as the table in [`crate::neural`] says.
    pub fn new(spec: &NetworkSpec, precision: Precision, threshold: f32) -> Result<Self, NetworkError> {
        let NetworkSpec { joints, muscles, vertex_count, mesh, mean, passive, active, errors } = spec.clone();
        let mut dropped = vec![0.0; vertex_count];
        let mut header = Header { joints, muscles, vertex_count, mesh, threshold, dropped: 0.0, errors };
        let fault = |fault: NetworkFault| fault.of("network");
        if !(0.0..=MOST_REACH as f32).contains(&threshold) {
            return Err(fault(bad("threshold", 0, threshold, format!("from 0 to {MOST_REACH:e} m"))));
        }
        let mut parts = [const { None }; 2];
        for ((part, given), which) in parts.iter_mut().zip([passive, active]).zip(Which::BOTH) {
            let Some(mut spec) = given else { continue };
            let basis = std::mem::take(&mut spec.basis);
            let tensor = format!("{}.basis", which.name());
            check_length(&tensor, basis.len(), &[spec.low.len(), vertex_count, 3]).map_err(fault)?;
            check_finite(&tensor, &basis).map_err(fault)?;
            check_length(&format!("{}.coefficients.high", which.name()), spec.high.len(), &[spec.low.len()])
                .map_err(fault)?;
            let most: Vec<f32> = ranges(&spec).collect();
            let basis = StoredBasis::compress(&basis, &most, precision, threshold, &mut dropped);
            *part = Some(StoredPart { spec, basis });
        }
        header.dropped = dropped.iter().copied().fold(0.0, f64::max) as f32;
        Self::assemble(header, mean, parts).map_err(fault)
    }

    /// Checks everything, and packs it.
    pub(super) fn assemble(
        header: Header,
        mean: Vec<f32>,
        parts: [Option<StoredPart<'_>>; 2],
    ) -> Result<Self, NetworkFault> {
        check_names("joints", &header.joints)?;
        check_names("muscles", &header.muscles)?;
        if header.vertex_count == 0 {
            return Err(NetworkFault::Metadata("0 vertices; export the network of a mesh".into()));
        }
        check_length("mean", mean.len(), &[header.vertex_count, 3])?;
        check_finite("mean", &mean)?;
        let inputs = [9 * header.joints.len(), header.muscles.len()];
        for ((part, inputs), which) in parts.iter().zip(inputs).zip(Which::BOTH) {
            match part {
                Some(part) => check_part(which.name(), part, inputs, header.vertex_count.div_ceil(BLOCK))?,
                None if inputs == 0 => {}
                None => return Err(NetworkFault::Missing(format!("{}.input.mean", which.name()))),
            }
        }
        let [passive, active] = &parts;
        let bases = [passive, active].map(|part| part.as_ref().map(|part| &part.basis));
        let precision = match bases {
            [None, None] => {
                return Err(NetworkFault::Metadata("neither joints nor muscles: name what it reads".into()));
            }
            [Some(basis), None] | [None, Some(basis)] => basis.precision,
            [Some(passive), Some(active)] if passive.precision == active.precision => passive.precision,
            [Some(passive), Some(active)] => {
                return Err(NetworkFault::WrongType {
                    tensor: "active.basis.values".into(),
                    found: active.precision.name().into(),
                    expected: match passive.precision {
                        Precision::F32 => "F32, as that of the passive network",
                        Precision::F16 => "F16, as that of the passive network",
                        Precision::I8 => "I8, as that of the passive network",
                    },
                });
            }
        };
        let blocks = header.vertex_count.div_ceil(BLOCK);
        let reach = reach(&mean, &parts, blocks)?;
        let second = passive.as_ref().map_or(0, |part| part.spec.low.len());
        let basis = Basis::pack(precision, blocks, bases, second);
        let parts = parts.map(|part| part.map(|part| Layers::new(part.spec)));
        // No −0, so that adding 0 changes no bit.
        let mean = mean.into_iter().map(|mean| mean + 0.0).collect();
        Ok(Self { header, mean, parts, basis, reach })
    }

    /// Names of the joints that the passive network reads, in the order of its inputs.
    pub fn joints(&self) -> &[String] {
        &self.header.joints
    }

    /// Names of the muscles that the active network reads, in the order of its inputs.
    pub fn muscles(&self) -> &[String] {
        &self.header.muscles
    }

    /// How many vertices its mesh has.
    pub fn vertex_count(&self) -> usize {
        self.header.vertex_count
    }

    /// Which mesh it is for.
    pub fn mesh(&self) -> MeshHash {
        self.header.mesh
    }

    /// What its basis is stored in.
    pub fn precision(&self) -> Precision {
        self.basis.precision
    }

    /// What one of the two networks is like, if it is there.
    pub fn part(&self, which: Which) -> Option<NetworkPart> {
        let layers = self.parts[which as usize].as_ref()?;
        let (begin, end) = self.components_of(which);
        let of_part = |row: &&super::basis::Row| (begin..end).contains(&(row.component as usize));
        Some(NetworkPart {
            inputs: layers.input_mean.len(),
            hidden: [0, 1].map(|layer| layers.layers[layer].outputs),
            components: end - begin,
            rows: self.basis.rows.iter().filter(of_part).count(),
        })
    }

    /// Components of both networks.
    pub fn component_count(&self) -> usize {
        self.components_of(Which::Active).1
    }

    /// A network's first component and the one past its last, of both networks'.
    pub(crate) fn components_of(&self, which: Which) -> (usize, usize) {
        let count = |part: &Option<Layers>| part.as_ref().map_or(0, |layers| layers.low.len());
        let passive = count(&self.parts[0]);
        match which {
            Which::Passive => (0, passive),
            Which::Active => (passive, passive + count(&self.parts[1])),
        }
    }

    /// What share of the pairs of component and block is stored: 1 where each component moves all of the mesh.
    pub fn density(&self) -> f64 {
        self.basis.rows.len() as f64 / (self.basis.block_count() * self.component_count()).max(1) as f64
    }

    /// Bytes of the basis, all of which a batch reads once.
    pub fn basis_bytes(&self) -> usize {
        self.basis.bytes()
    }

    /// No vertex is moved farther, whatever the inputs (m): what the ranges of all coefficients allow together.
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// What a component moves a block of vertices by less than, where that is not stored (m), and the most that a vertex lacks for
    /// it (m).
    pub fn threshold(&self) -> [f32; 2] {
        [self.header.threshold, self.header.dropped]
    }

    /// What its training left over, by part of the skin.
    pub fn errors(&self) -> &[ErrorRow] {
        &self.header.errors
    }
}

/// How large each coefficient can be.
fn ranges(spec: &PartSpec) -> impl Iterator<Item = f32> {
    spec.low.iter().zip(&spec.high).map(|(low, high)| low.abs().max(high.abs()))
}

fn bad(tensor: impl Into<String>, index: usize, value: f32, allowed: String) -> NetworkFault {
    let fix = if value.is_finite() {
        "export the network again with such numbers"
    } else {
        "its training diverged, or the file is damaged; train or copy it again"
    };
    NetworkFault::BadNumber { tensor: tensor.into(), index, value: value.into(), allowed, fix }
}

fn check_finite(tensor: &str, values: &[f32]) -> Result<(), NetworkFault> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(bad(tensor, index, values[index], "finite".into())),
        None => Ok(()),
    }
}

fn check_length(tensor: &str, length: usize, shape: &[usize]) -> Result<(), NetworkFault> {
    if shape.iter().try_fold(1_usize, |product, &dim| product.checked_mul(dim)) == Some(length) {
        return Ok(());
    }
    Err(NetworkFault::WrongShape { tensor: tensor.into(), found: vec![length], expected: format!("{shape:?}") })
}

fn check_names(what: &str, names: &[String]) -> Result<(), NetworkFault> {
    if names.len() > MOST_UNITS {
        return Err(NetworkFault::Metadata(format!("{} {what}; at most {MOST_UNITS} are read", names.len())));
    }
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(NetworkFault::Metadata(format!("{what} has {:?} twice; name each once", pair[0]))),
        None if names.iter().any(String::is_empty) => {
            Err(NetworkFault::Metadata(format!("{what} has an empty name; name it as the character's file does")))
        }
        None => Ok(()),
    }
}

fn check_part(name: &str, part: &StoredPart<'_>, inputs: usize, blocks: usize) -> Result<(), NetworkFault> {
    let PartSpec { input_mean, input_scale, layers, low, high, .. } = &part.spec;
    let tensor = |tensor: &str| format!("{name}.{tensor}");
    let components = low.len();
    let widths = [layers[0].bias.len(), layers[1].bias.len(), components];
    if let Some(layer) = widths.iter().position(|width| !(1..=MOST_UNITS).contains(width)) {
        let tensor = tensor(&format!("layers.{layer}.bias"));
        return Err(NetworkFault::WrongShape {
            tensor,
            found: vec![widths[layer]],
            expected: format!("[1 to {MOST_UNITS}]"),
        });
    }
    let check = |name: &str, values: &[f32], shape: &[usize]| {
        check_length(&tensor(name), values.len(), shape)?;
        check_finite(&tensor(name), values)
    };
    check("input.mean", input_mean, &[inputs])?;
    check("input.scale", input_scale, &[inputs])?;
    let mut reads = inputs;
    for (layer, (values, &width)) in layers.iter().zip(&widths).enumerate() {
        check(&format!("layers.{layer}.weight"), &values.weight, &[width, reads])?;
        check(&format!("layers.{layer}.bias"), &values.bias, &[width])?;
        reads = width;
    }
    check("coefficients.low", low, &[components])?;
    check("coefficients.high", high, &[components])?;
    check("basis.scale", &part.basis.scales, &[part.basis.scales.len()])?;
    if let Some(index) = input_scale.iter().position(|&scale| scale < f32::MIN_POSITIVE) {
        return Err(bad(
            tensor("input.scale"),
            index,
            input_scale[index],
            "above 0 (1 for an input that never varies)".into(),
        ));
    }
    if let Some(index) = (0..components).find(|&index| low[index] > high[index]) {
        return Err(bad(tensor("coefficients.high"), index, high[index], format!("at least its low, {}", low[index])));
    }
    check_basis(name, &part.basis, components, blocks)
}

fn check_basis(name: &str, basis: &StoredBasis<'_>, components: usize, blocks: usize) -> Result<(), NetworkFault> {
    let tensor = |tensor: &str| format!("{name}.basis.{tensor}");
    let rows = basis.blocks.len();
    check_length(&tensor("first"), basis.first.len(), &[components + 1])?;
    check_length(&tensor("values"), basis.values.len(), &[rows, basis.row_bytes()])?;
    let scales = if basis.precision == Precision::F32 { 0 } else { rows };
    check_length(&tensor("scale"), basis.scales.len(), &[scales])?;
    let ascending = |values: &[u32]| values.windows(2).position(|pair| pair[0] > pair[1]).map(|index| index + 1);
    let wrong = |what: &str, index: usize, value: u32, allowed: String| NetworkFault::BadNumber {
        tensor: tensor(what),
        index,
        value: value.into(),
        allowed,
        fix: "export the network again",
    };
    let last = basis.first[components];
    match ascending(&basis.first) {
        _ if basis.first[0] != 0 => return Err(wrong("first", 0, basis.first[0], "0".into())),
        _ if last as usize != rows => {
            return Err(wrong("first", components, last, format!("{rows}, the number of rows")));
        }
        Some(index) => return Err(wrong("first", index, basis.first[index], "no less than the one before".into())),
        None => {}
    }
    for range in basis.first.windows(2) {
        let mut next = 0;
        for row in range[0] as usize..range[1] as usize {
            let block = basis.blocks[row];
            if block < next || block as usize >= blocks {
                return Err(wrong(
                    "blocks",
                    row,
                    block,
                    format!("from {next} to {}, ascending in its component", blocks - 1),
                ));
            }
            next = block + 1;
        }
    }
    Ok(())
}

/// How far a network can move a vertex (m), and that it is no farther than it may be.
fn reach(mean: &[f32], parts: &[Option<StoredPart<'_>>; 2], blocks: usize) -> Result<f64, NetworkFault> {
    let length = |d: &[f32]| d.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    let longest = |values: &[f32]| values.chunks(3).map(length).fold(0.0, f64::max);
    let mut reaches = vec![0.0; blocks];
    reaches.iter_mut().zip(mean.chunks(BLOCK_VALUES)).for_each(|(reach, mean)| *reach = longest(mean));
    for (part, which) in parts.iter().zip(Which::BOTH) {
        let Some(StoredPart { spec, basis }) = part else { continue };
        for (range, most) in basis.first.windows(2).zip(ranges(spec)) {
            for row in range[0] as usize..range[1] as usize {
                let values = basis.row(row);
                check_finite(&format!("{}.basis.values, row {row}", which.name()), &values)?;
                let farthest = longest(&values) * f64::from(most);
                match basis.scales.get(row) {
                    Some(&scale) if farthest == 0.0 && f64::from(scale).abs() * f64::from(most) > MOST_FACTOR => {
                        let allowed = format!("at most {MOST_FACTOR:e} by its coefficient, up to {most:e}");
                        return Err(bad(format!("{}.basis.scale", which.name()), row, scale, allowed));
                    }
                    _ => reaches[basis.blocks[row] as usize] += farthest,
                }
            }
        }
    }
    let farthest = reaches.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
    match farthest {
        Some((block, reach)) if reach > MOST_REACH => Err(NetworkFault::TooFar { block, reach, most: MOST_REACH }),
        Some((_, reach)) => Ok(reach),
        None => Ok(0.0),
    }
}
