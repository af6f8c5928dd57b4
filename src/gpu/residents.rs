//! Which instances lie where in the arrays: of each its chains and its skin, in a pool each.

use super::arrays::{INSTANCES, REPORTS};
use super::chain_pool::{ChainPool, ChainRows, Touching};
use super::meeting_pool::{MeetingPool, PairReport};
#[cfg(feature = "neural")]
use super::network_pool::NetworkPool;
use super::skin_pool::{SkinPool, SkinRows};
use super::sleep_pool::{SleepPool, Told};
use super::solid_pool::SolidPool;
use super::tally_pool::TallyPool;
use super::{ArrayId, Buffers, GpuDevice, GpuError, touches};
use crate::backend::HostFrame;
use crate::cpu::threads::Threads;
use crate::instances::{Instance, InstanceNetwork, Slot};
use crate::layout::{InstanceGroups, LANES};
use crate::physics::Changes;
use crate::step::StepParams;

/// Where uploads go.
pub(super) struct Upload<'a> {
    pub gpu: &'a GpuDevice,
    pub buffers: &'a mut Buffers,
    pub encoder: &'a mut wgpu::CommandEncoder,
}

impl Upload<'_> {
    /// As [`Buffers::upload`].
    pub fn rows<T: bytemuck::Pod>(&mut self, id: ArrayId, first_row: u64, rows: &[T]) -> Result<(), GpuError> {
        self.buffers.upload(self.gpu, self.encoder, id, first_row, rows)
    }

    /// As [`Buffers::reserve`].
    pub fn reserve(&mut self, id: ArrayId, rows: u64) -> Result<(), GpuError> {
        self.buffers.reserve(self.gpu, self.encoder, id, rows)
    }

    /// As [`Buffers::clear_entry`].
    pub fn clear_entry(&mut self, id: ArrayId, row: u64, entry: usize) {
        self.buffers.clear_entry(self.encoder, id, row, entry);
    }

    /// As [`Buffers::clear`].
    pub fn clear(&mut self, id: ArrayId, rows: u64) {
        self.buffers.clear(self.encoder, id, rows);
    }
}

/// An instance on the GPU.
pub(super) struct Resident {
    pub generation: u32,
    pub chains: ChainRows,
    pub skin: SkinRows,
    #[cfg(feature = "neural")]
    pub network: Option<std::sync::Arc<crate::neural::CorrectiveNetwork>>,
    /// The first recording that began with the state that the host sent last.
    pub since: u64,
    /// The same of activations, which go on where it was only put at rest elsewhere.
    pub activated_since: u64,
    /// Of which frame what its chain rows say of sleep is.
    pub sleeps: Told,
}

impl Resident {
    /// Whether its skin is deformed in the frame, if it has any: once at least, since what was there before it is another's.
    fn deforms(&self, instance: &Instance) -> bool {
        !instance.blocks.skin.is_empty() && (instance.active.skin || !self.skin.deformed)
    }

    /// Its part of stage `gather_inputs`, apart from all others; notes whether anything stirs the instance.
    fn gather_inputs(&mut self, instance: &mut Instance, (frame, half_spaces_stand): (&HostFrame<'_>, bool)) {
        let (steps, deforms) = (instance.steps(), self.deforms(instance));
        let Instance { flesh, active, collisions, state, step, pushes, skin_inputs, network, stirred, .. } = instance;
        // Muscles that are not stepped are read all the same.
        if active.skin && !steps.flesh && network.as_deref().is_some_and(InstanceNetwork::works) {
            frame.activate(flesh, &mut self.chains.activations, &state.excitations);
        }
        *stirred |= self.chains.gather_inputs((steps, collisions), (state, *step, pushes), (frame, half_spaces_stand));
        if deforms {
            skin_inputs.gather(flesh, &self.chains.front, &state.bones, &state.root);
        }
    }
}

/// All instances on the GPU.
#[derive(Default)]
pub(super) struct Residents {
    /// By the index of the instance's slot, which is also its row among instances.
    pub slots: Vec<Option<Resident>>,
    pub chains: ChainPool,
    pub skins: SkinPool,
    pub meetings: MeetingPool,
    pub sleep: SleepPool,
    pub solids: SolidPool,
    pub tallies: TallyPool,
    #[cfg(feature = "neural")]
    pub networks: NetworkPool,
}

impl Residents {
    /// Makes the GPU's instances those of `slots`: rows for new ones, states that the host changed, none for those
    /// gone, and room for what each may touch of so many half-spaces. Recording `tag` is the first to see it. What neither
    /// came, went nor changed is not sent.
    pub fn follow(
        &mut self,
        upload: &mut Upload<'_>,
        slots: &mut [Slot],
        (planes, any_solid, substeps): (usize, bool, usize),
        tag: u64,
    ) -> Result<(), GpuError> {
        self.slots.resize_with(self.slots.len().max(slots.len()), || None);
        upload.reserve(REPORTS, self.slots.len() as u64)?;
        let Self { slots: residents, chains, skins, solids, .. } = self;
        #[cfg(feature = "neural")]
        let networks = &mut self.networks;
        for (index, resident) in residents.iter_mut().enumerate() {
            let slot = slots.get(index).filter(|slot| slot.instance.is_some());
            let gone = |resident: &mut Resident| slot.is_none_or(|slot| slot.generation != resident.generation);
            if let Some(gone) = resident.take_if(gone) {
                upload.rows(INSTANCES, index as u64, &[InstanceGroups::default()])?;
                chains.leave(upload, gone.chains, solids)?;
                skins.leave(upload, gone.skin)?;
                #[cfg(feature = "neural")]
                networks.leave(&mut { gone.network });
            }
        }
        for (index, (resident, slot)) in residents.iter_mut().zip(slots).enumerate() {
            let Some(instance) = &mut slot.instance else { continue };
            let resident = match resident {
                Some(resident) => resident,
                None => {
                    let Instance { flesh, blocks, state, .. } = &*instance;
                    let own = chains.settle(upload, index as u32, (flesh, state))?;
                    let skin = skins.settle(upload, &blocks.skin, flesh, &own)?;
                    let groups = InstanceGroups {
                        group_base: own.groups.start as u32,
                        group_count: (own.groups.end - own.groups.start) as u32,
                    };
                    upload.rows(INSTANCES, index as u64, &[groups])?;
                    instance.changed = true;
                    resident.insert(Resident {
                        generation: slot.generation,
                        chains: own,
                        skin,
                        #[cfg(feature = "neural")]
                        network: None,
                        since: tag,
                        activated_since: tag,
                        sleeps: Told::Nothing,
                    })
                }
            };
            let morphs = instance.blocks.skin.is_morphed(&instance.state.morphs);
            #[cfg(feature = "neural")]
            let network = {
                let own = instance.network.as_deref();
                networks.follow(upload, &mut resident.network, own.map(|own| &own.network))?;
                own.is_some_and(InstanceNetwork::works)
            };
            #[cfg(not(feature = "neural"))]
            let network = false;
            skins.follow_motion(upload, &mut resident.skin, [morphs, network], instance.mix.rods > 0.0)?;
            chains.make_room_for_contacts(upload, &mut resident.chains, planes)?;
            let touching = Touching {
                solids: any_solid && instance.collisions.solids,
                pills: instance.collisions.bone_pills && !instance.flesh.bone_pills.pills.is_empty(),
            };
            chains.follow_touching(upload, &mut resident.chains, solids, (touching, substeps))?;
            chains.follow_collisions(upload, &mut resident.chains, &instance.collisions)?;
            if instance.changed {
                resident.chains.take_state(upload, &instance.state.nodes, tag)?;
                if !instance.placed {
                    resident.chains.activations.clone_from(&instance.state.activations);
                    resident.activated_since = tag;
                }
                resident.since = tag;
                chains.told(upload, &mut resident.chains, tag)?;
                (instance.changed, instance.placed) = (false, false);
            }
        }
        Ok(())
    }

    /// Makes room for chains that meet in a recording, given how many pairs the newest frame found of which that is known. Where
    /// the host has told the states of all instances in it, it tells what they remember of each other too.
    pub fn make_room_for_meetings(
        &mut self,
        upload: &mut Upload<'_>,
        slots: &[Slot],
        found: Option<PairReport>,
        recording: u64,
    ) -> Result<(), GpuError> {
        for resident in self.slots.iter_mut().flatten() {
            self.chains.find_overlaps(upload, &mut resident.chains)?;
        }
        let all_told = self.slots.iter().flatten().all(|resident| resident.since == recording);
        let remembered = if all_told { touches::remembered(self, slots) } else { Vec::new() };
        self.meetings.make_room(upload, &self.chains, (found, remembered.len() as u64))?;
        if !remembered.is_empty() {
            touches::tell(upload, self.meetings.room, &remembered, recording)?;
            self.meetings.told_in(recording);
        }
        Ok(())
    }

    /// Stage `gather_inputs`: what the host says of this frame. Of each instance that is found by threads, and then put together.
    pub fn gather_inputs(
        &mut self,
        upload: &mut Upload<'_>,
        slots: &mut [Slot],
        (frame, substeps): (&HostFrame<'_>, &[&StepParams]),
        changes: &Changes,
        threads: &Threads,
    ) -> Result<(), GpuError> {
        let Self { slots: residents, chains, skins, .. } = self;
        let half_spaces_stand = chains.begin_inputs(frame.planes);
        skins.begin_inputs();
        #[cfg(feature = "neural")]
        self.networks.begin_inputs();
        let slots = slots.iter_mut().map(|slot| slot.instance.as_mut());
        let mut present: Vec<_> = residents
            .iter_mut()
            .zip(slots)
            .filter_map(|(resident, instance)| resident.as_mut().zip(instance))
            .collect();
        threads.for_many(&mut present, |(resident, instance)| {
            instance.stirred |= changes.are_everywhere();
            resident.gather_inputs(instance, (frame, half_spaces_stand));
        });
        for (resident, instance) in present {
            let (steps, deforms) = (instance.steps(), resident.deforms(instance));
            let Resident { chains: own, skin, .. } = resident;
            let Instance { state, pushes, skin_inputs, mix, stirred, .. } = instance;
            chains.put_inputs((own, steps), (pushes, std::mem::take(stirred)), frame);
            if deforms {
                skins.put_inputs(skin, (state, mix.rods), skin_inputs);
                #[cfg(feature = "neural")]
                if let (Some(network), Some(delta_base)) = (&mut instance.network, skin.network_base()) {
                    self.networks.gather_inputs(network, &own.activations, delta_base);
                }
            }
        }
        for resident in residents.iter_mut().flatten() {
            let ChainRows { pills, flesh, front, touching, .. } = &mut resident.chains;
            if let Some(pills) = pills.as_mut().filter(|_| touching.pills) {
                pills.follow(upload, (&**flesh, &front.motion), substeps)?;
            }
        }
        #[cfg(feature = "neural")]
        self.networks.send_inputs(upload)?;
        chains.send_inputs(upload)?;
        skins.send_inputs(upload)
    }

    /// How many chains there are.
    pub fn chain_count(&self) -> u64 {
        self.slots.iter().flatten().map(|resident| resident.chains.flesh.chains().len() as u64).sum()
    }

    /// Whether any chain may touch a solid, or a pill of its own bones.
    pub fn any_touching(&self) -> bool {
        self.slots.iter().flatten().any(|resident| resident.chains.touching.any())
    }

    /// The instance's place, and the group, lane and node, of a segment by its chain among all and its first node.
    pub fn name_of(&self, chain: u32, node: u32) -> Option<(usize, [u16; 3])> {
        let (group, lane) = (u64::from(chain / LANES), chain % LANES);
        let of = |resident: &Option<Resident>| resident.as_ref().map(|resident| resident.chains.groups.clone());
        self.slots.iter().enumerate().find_map(|(slot, resident)| {
            let groups = of(resident).filter(|groups| groups.contains(&group))?;
            Some((slot, [(group - groups.start) as u16, lane as u16, node as u16]))
        })
    }
}
