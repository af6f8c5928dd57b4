//! The host's stages, of one instance.

use crate::backend::Frame;
use crate::instances::{Instance, InstanceNetwork, InstanceState};

/// Bones, activations, teleports, pushes and half-spaces become rows; what skin follows becomes poses in model space.
pub(super) fn gather_inputs(frame: &Frame<'_>, instance: &mut Instance) {
    let (works, asleep) = (instance.works(), instance.state.rest.is_asleep());
    let is_read = instance.network.as_deref().is_some_and(InstanceNetwork::works);
    let Instance {
        flesh,
        active,
        collisions,
        deforms,
        redeform,
        network,
        blocks,
        state,
        skin_inputs,
        vertices,
        pushes,
        tally,
        forces,
        ..
    } = instance;
    let InstanceState { nodes, bones, root, excitations, activations, health, palette, acceleration, .. } = state;
    // Muscles that are not stepped are read all the same.
    if is_read && active.skin && !works.flesh && !asleep {
        frame.host.activate(flesh, activations, excitations);
    }
    let (shown, told) = ((&mut *nodes, activations.as_mut_slice()), (bones.as_slice(), &*root, excitations.as_slice()));
    frame.host.gather_inputs((flesh, works, collisions), shown, told, (*acceleration, pushes), health);
    *forces = pushes.rows(flesh);
    nodes.make_room_for_contacts();
    tally.begin(if frame.events.is_some() { flesh.groups.len() } else { 0 }, asleep);
    // Where flesh sleeps its skin follows what else moves the palette.
    let stands = asleep
        && !*redeform
        && skin_inputs.palette == *palette
        && vertices.positions.len() == blocks.skin.vertices.len();
    *deforms = active.skin && !stands;
    if *deforms {
        *redeform = false;
        if let Some(network) = network {
            network.gather_inputs(activations);
        }
        skin_inputs.gather(flesh, nodes, bones, root);
        skin_inputs.take_palette(&blocks.skin, palette);
    }
}

/// What was laid anew is told to its health, and to which step all belongs.
pub(super) fn scatter_outputs(frame: &Frame<'_>, instance: &mut Instance) {
    instance.state.health.follow(&instance.flesh, &instance.state.nodes, instance.report.resets);
    instance.step = frame.step;
    if instance.active.skin {
        instance.vertices.step = frame.step;
    }
}
