#!/usr/bin/env python3
"""Builds small characters with muscles in Blender and exports them to glTF, as README's "Muscles from Blender" says.

    pip install bpy==4.5.*    # Python 3.11; one venv for each version of Blender, 4.2 to 5.0
    blender_exports.py OUT [NAME ...]

Writes OUT/NAME.glb for every scene below, or for those named. A scene is a function that builds what is in the file
and says how it is exported; those called `mistake_…` each have one slip that an artist makes. In Blender's own axes
the arm lies along +x at a height of 1.4 m and flexes upwards, towards the side that its biceps is on.
"""
import argparse
import functools
import inspect
import json
import math
import os
import sys

# The module that brings the others along comes first.
import bpy
import bmesh
from mathutils import Vector

SHOULDER = Vector((0.0, 0.0, 1.4))
UPPER_ARM, FOREARM, HAND = 0.30, 0.26, 0.10
ARM_RADIUS = 0.05
FLEXION = math.radians(100)
FLEXED_FRAME, LAST_FRAME = 25, 61

# Middle of the biceps against the shoulder, and its half axes.
BICEPS_PLACE, BICEPS_SIZE = Vector((0.185, 0.0, 0.022)), Vector((0.152, 0.018, 0.018))
BICEPS = '{"origin": "upper_arm", "insertion": "forearm"}'
TRICEPS = json.dumps({
    "radius": 0.015,
    "path": [{"joint": "upper_arm", "place": [0, 0.05, -0.03]}, {"joint": "forearm", "place": [0, 0.04, -0.02]}],
})


# What Blender's interface does.

def select(active, *others):
    """Selects objects, the first one last, as the active one."""
    bpy.ops.object.select_all(action="DESELECT")
    for thing in (*others, active):
        thing.select_set(True)
    bpy.context.view_layer.objects.active = active


def add_object(name, data=None):
    thing = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(thing)
    return thing


def parent_to_armature(thing, armature):
    """Ctrl P › Object."""
    select(armature, thing)
    bpy.ops.object.parent_set(type="OBJECT")


def parent_to_bone(thing, armature, bone):
    """Ctrl P › Bone."""
    select(armature, thing)
    armature.data.bones.active = armature.data.bones[bone]
    bpy.ops.object.parent_set(type="BONE")


def set_muscle(thing, value, key="sinew.muscle"):
    """Object Properties › Custom Properties › New, of type String."""
    thing[key] = value


def mark_ends(muscle, name="_SINEW_ENDS", kind="FLOAT", domain="POINT", share=0.05):
    """Object Data Properties › Attributes › Add: -1 at the end of low x, 1 at that of high x."""
    mesh = muscle.data
    places = [vertex.co.x for vertex in mesh.vertices]
    low, high = min(places), max(places)
    mark = lambda x: -1 if x < low + share * (high - low) else 1 if x > high - share * (high - low) else 0
    if domain == "CORNER":
        values = [mark(places[loop.vertex_index]) for loop in mesh.loops]
    elif domain == "FACE":
        values = [mark(face.center.x) for face in mesh.polygons]
    else:
        values = [mark(x) for x in places]
    attribute = mesh.attributes.new(name, kind, domain)
    attribute.data.foreach_set("value", [float(v) if kind == "FLOAT" else int(v) for v in values])


# What is in the scenes.

def add_armature(name="Rig", hand=True, unit=1.0, place=Vector()):
    """Bones of an arm, with a hand or ending in a forearm."""
    armature = add_object(name, bpy.data.armatures.new(name))
    select(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    at, parent = SHOULDER + place, None
    for bone, length in [("upper_arm", UPPER_ARM), ("forearm", FOREARM), ("hand", HAND)][: 3 if hand else 2]:
        edit = armature.data.edit_bones.new(bone)
        edit.head, edit.tail = at * unit, (at + Vector((length, 0, 0))) * unit
        edit.parent, edit.use_connect = parent, parent is not None
        at, parent = at + Vector((length, 0, 0)), edit
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def add_tube(name, start, length, radius, rings=45, segments=32):
    """A closed tube along +x."""
    mesh, shape = bpy.data.meshes.new(name), bmesh.new()
    loops = []
    for ring in range(rings + 1):
        # Rounded at both ends.
        along = ring / rings
        cap = min(along, 1 - along) * length / radius
        wide = radius * (math.sqrt(max(0.02, 1 - (1 - cap) ** 2)) if cap < 1 else 1)
        angles = [2 * math.pi * k / segments for k in range(segments)]
        ends = [start + Vector((along * length, wide * math.cos(a), wide * math.sin(a))) for a in angles]
        loops.append([shape.verts.new(end) for end in ends])
    for near, far in zip(loops, loops[1:]):
        for k in range(segments):
            shape.faces.new((near[k], near[k - 1], far[k - 1], far[k]))
    shape.faces.new(loops[0])
    shape.faces.new(reversed(loops[-1]))
    bmesh.ops.recalc_face_normals(shape, faces=shape.faces)
    shape.to_mesh(mesh)
    shape.free()
    return add_object(name, mesh)


def add_skin(armature, name="Arm", unit=1.0, place=Vector()):
    """The arm's skin, bound with weights that change over at the elbow and at the wrist."""
    length = sum(bone.length for bone in armature.data.bones) / unit
    start = SHOULDER + place
    skin = add_tube(name, start * unit, length * unit, ARM_RADIUS * unit)
    skin.data.polygons.foreach_set("use_smooth", [True] * len(skin.data.polygons))
    select(armature, skin)
    bpy.ops.object.parent_set(type="ARMATURE_NAME")
    step = lambda x: (lambda t: t * t * (3 - 2 * t))(min(1.0, max(0.0, x)))
    for vertex in skin.data.vertices:
        along = vertex.co.x / unit - start.x
        elbow = step((along - UPPER_ARM) / 0.08 + 0.5)
        wrist = step((along - UPPER_ARM - FOREARM) / 0.06 + 0.5) if "hand" in armature.data.bones else 0.0
        for bone, weight in [("upper_arm", 1 - elbow), ("forearm", elbow * (1 - wrist)), ("hand", elbow * wrist)]:
            if weight > 0:
                skin.vertex_groups[bone].add([vertex.index], weight, "REPLACE")
    return skin


def add_spindle(name, place, size, unit=1.0):
    """A closed mesh of a muscle: an ellipsoid along +x whose origin is the world's, as after applying transforms."""
    mesh, shape = bpy.data.meshes.new(name), bmesh.new()
    bmesh.ops.create_uvsphere(shape, u_segments=36, v_segments=24, radius=1)
    for vertex in shape.verts:
        along, around, up = vertex.co.z, vertex.co.x, vertex.co.y
        vertex.co = (place + Vector((along * size.x, around * size.y, up * size.z))) * unit
    bmesh.ops.recalc_face_normals(shape, faces=shape.faces)
    shape.to_mesh(mesh)
    shape.free()
    return add_object(name, mesh)


def add_biceps(armature, value=BICEPS, name="Biceps", unit=1.0, place=Vector(), size=BICEPS_SIZE, bone=None):
    """A muscle with a mesh; without a value it has no property yet."""
    muscle = add_spindle(name, SHOULDER + BICEPS_PLACE + place, size, unit)
    if bone:
        parent_to_bone(muscle, armature, bone)
    else:
        parent_to_armature(muscle, armature)
    if value is not None:
        set_muscle(muscle, value)
    return muscle


def add_path(armature, value=TRICEPS, name="Triceps"):
    """A muscle that is a mere path: an Empty, anywhere."""
    muscle = add_object(name)
    parent_to_armature(muscle, armature)
    set_muscle(muscle, value)
    return muscle


def curl(armature, bone="forearm"):
    """Flexes the elbow by 100° in a second, and holds it."""
    scene, pose = bpy.context.scene, armature.pose.bones[bone]
    scene.frame_start, scene.frame_end = 1, LAST_FRAME
    pose.rotation_mode = "QUATERNION"
    for frame, angle in [(1, 0.0), (FLEXED_FRAME, FLEXION), (LAST_FRAME, FLEXION)]:
        pose.rotation_quaternion = (math.cos(angle / 2), math.sin(angle / 2), 0, 0)
        pose.keyframe_insert("rotation_quaternion", frame=frame)
    armature.animation_data.action.name = "curl"
    scene.frame_set(1)


def add_arm(**how):
    """Bones, skin and animation, without muscles."""
    armature = add_armature(**how)
    add_skin(armature, unit=how.get("unit", 1.0), place=how.get("place", Vector()))
    curl(armature)
    return armature


# Scenes that are as they should be.

def arm():
    rig = add_arm()
    add_biceps(rig)
    add_path(rig)


def arm_two_bones():
    add_biceps(add_arm(hand=False))


def arm_on_bone():
    add_biceps(add_arm(), bone="upper_arm")


def arm_shortening():
    add_biceps(add_arm(), json.dumps({"origin": "upper_arm", "insertion": "forearm", "shortening": 0.25}))


def arm_dictionary():
    add_biceps(add_arm(), {"origin": "upper_arm", "insertion": "forearm"})


def arm_nested():
    """A property `sinew` with a muscle in it."""
    set_muscle(add_biceps(add_arm(), None), json.dumps({"muscle": json.loads(BICEPS)}), "sinew")


def arm_sliders():
    rig = add_arm()
    muscle = add_biceps(rig, None)
    for key, value in [("origin", "upper_arm"), ("insertion", "forearm"), ("shortening", 0.2), ("peak_force", 400.0)]:
        set_muscle(muscle, value, f"sinew.muscle.{key}")


def arm_forearm_bone():
    add_biceps(add_arm(), bone="forearm")


def arm_scan():
    """A mesh with holes."""
    mesh = add_biceps(add_arm()).data
    shape = bmesh.new()
    shape.from_mesh(mesh)
    bmesh.ops.delete(shape, geom=[face for k, face in enumerate(shape.faces) if k % 97 < 3], context="FACES_ONLY")
    shape.to_mesh(mesh)
    shape.free()


def arm_modifiers():
    """A muscle with modifiers that were not applied: half of it, mirrored, and subdivided."""
    muscle = add_biceps(add_arm())
    shape = bmesh.new()
    shape.from_mesh(muscle.data)
    bmesh.ops.delete(shape, geom=[vertex for vertex in shape.verts if vertex.co.y < -1e-6], context="VERTS")
    shape.to_mesh(muscle.data)
    shape.free()
    muscle.modifiers.new("Mirror", "MIRROR").use_axis = (False, True, False)
    muscle.modifiers.new("Subdivision", "SUBSURF")
    return {"export_apply": True}


def arm_scaled_muscle():
    """A muscle whose object has a scale and a turn of its own that were not applied."""
    rig = add_arm()
    muscle = add_spindle("Biceps", Vector(), Vector((1, 1, 1)))
    muscle.location, muscle.scale = SHOULDER + BICEPS_PLACE, BICEPS_SIZE
    muscle.rotation_euler = (math.radians(30), 0, 0)
    bpy.context.view_layer.update()
    parent_to_armature(muscle, rig)
    set_muscle(muscle, BICEPS)


def still_posed_as_exported_by_default():
    still_posed()


def still():
    rig = add_armature()
    add_skin(rig)
    add_biceps(rig, json.dumps({"origin": "upper_arm", "insertion": "forearm", "shortening": 0.25}))


def still_posed():
    """Flexed by 60° in the file, without an animation."""
    rig = add_armature()
    add_skin(rig)
    add_biceps(rig, json.dumps({"origin": "upper_arm", "insertion": "forearm", "shortening": 0.25}))
    angle = math.radians(60)
    pose = rig.pose.bones["forearm"]
    pose.rotation_mode = "QUATERNION"
    pose.rotation_quaternion = (math.cos(angle / 2), math.sin(angle / 2), 0, 0)
    bpy.context.view_layer.update()
    return {"export_rest_position_armature": False}


def ends():
    mark_ends(add_biceps(add_arm()), share=0.05)
    return {"export_attributes": True}


def ends_wide():
    """An end is marked over the outer 15 % of the muscle: its rod ends in the middle of that, near the elbow."""
    mark_ends(add_biceps(add_arm()))
    return {"export_attributes": True}


def centimetres():
    """A scene of unit scale 0.01, modelled in units of a centimetre: to be read with `--meters-per-unit 0.01`."""
    bpy.context.scene.unit_settings.scale_length = 0.01
    bpy.context.scene.unit_settings.length_unit = "CENTIMETERS"
    rig = add_arm(unit=100)
    add_biceps(rig, unit=100)
    points = [{"joint": "upper_arm", "place": [0, 5, -3]}, {"joint": "forearm", "place": [0, 4, -2]}]
    add_path(rig, json.dumps({"radius": 1.5, "path": points}))


def object_scale():
    """Armature and meshes a hundred times as large, under an armature object of scale 0.01 that was not applied."""
    rig = add_arm(unit=100)
    add_biceps(rig, unit=100)
    add_path(rig)
    rig.scale = (0.01, 0.01, 0.01)
    bpy.context.view_layer.update()


def two_rigs():
    """Two rigs with bones of the same names, each with a muscle of its own."""
    for side, place in [("Left", Vector()), ("Right", Vector((0, 0.5, 0)))]:
        rig = add_armature(f"{side} rig", place=place)
        add_skin(rig, f"{side} arm", place=place)
        curl(rig)
        rig.animation_data.action.name = f"curl {side}"
        add_biceps(rig, name=f"{side} biceps", place=place)


def add_human(prefix="DEF-"):
    """A Rigify human with a skin of capsules around its deforming bones, bound by automatic weights, and two biceps."""
    bpy.ops.preferences.addon_enable(module="rigify")
    bpy.ops.object.armature_human_metarig_add()
    meta = bpy.context.object
    # The face needs more of a mesh than capsules are.
    bpy.ops.object.mode_set(mode="EDIT")
    bones = meta.data.edit_bones
    face = [bone for bone in bones if any(parent.name == "face" for parent in [bone, *bone.parent_recursive])]
    for bone in face:
        bones.remove(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.pose.rigify_generate()
    rig = next(thing for thing in bpy.data.objects if thing.type == "ARMATURE" and thing != meta)
    bpy.data.objects.remove(meta)

    mesh, shape = bpy.data.meshes.new("Body"), bmesh.new()
    thick = [("thigh", 0.075), ("shin", 0.05), ("upper_arm", 0.045), ("forearm", 0.036), ("spine", 0.11), ("foot", 0.035),
             ("shoulder", 0.05), ("pelvis", 0.06), ("breast", 0.04), ("toe", 0.03), ("hand", 0.03), ("palm", 0.012)]
    for bone in rig.data.bones:
        if not bone.use_deform:
            continue
        radius = next((r for word, r in thick if word in bone.name), 0.009)
        balls = bmesh.ops.create_uvsphere(shape, u_segments=20, v_segments=12, radius=radius)["verts"]
        turn = Vector((0, 0, 1)).rotation_difference(bone.tail_local - bone.head_local)
        for ball in balls:
            shift = bone.length / 2 if ball.co.z > 0 else -bone.length / 2
            middle = (bone.head_local + bone.tail_local) / 2
            ball.co = middle + turn @ (ball.co + Vector((0, 0, shift)))
    shape.to_mesh(mesh)
    shape.free()
    body = add_object("Body", mesh)
    remesh = body.modifiers.new("Remesh", "REMESH")
    remesh.mode, remesh.voxel_size = "VOXEL", 0.012
    select(body)
    bpy.ops.object.modifier_apply(modifier="Remesh")
    bpy.ops.object.shade_smooth()
    select(rig, body)
    bpy.ops.object.parent_set(type="ARMATURE_AUTO")
    if not any(vertex.groups for vertex in body.data.vertices):
        print("automatic weights failed: weights are those of the nearest bone")
        bind_to_nearest(body, rig)

    for side in "LR":
        upper, fore = rig.data.bones[f"DEF-upper_arm.{side}"], rig.data.bones[f"DEF-forearm.{side}"]
        elbow = fore.head_local
        along = (elbow - upper.head_local).normalized()
        # The forearm flexes about its x axis, towards its z axis.
        front = fore.matrix_local.to_3x3().col[2]
        muscle = add_spindle(f"Biceps.{side}", Vector(), Vector((0.125, 0.016, 0.016)))
        turn = Vector((1, 0, 0)).rotation_difference(along)
        for vertex in muscle.data.vertices:
            vertex.co = elbow - 0.1 * along + 0.018 * front + turn @ vertex.co
        parent_to_armature(muscle, rig)
        ends = {"origin": f"{prefix}upper_arm.{side}", "insertion": f"{prefix}forearm.{side}"}
        set_muscle(muscle, json.dumps(ends))

    for side in "LR":
        rig.pose.bones[f"upper_arm_parent.{side}"]["IK_FK"] = 1.0
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST_FRAME
    for side in "LR":
        pose = rig.pose.bones[f"forearm_fk.{side}"]
        pose.rotation_mode = "QUATERNION"
        for frame, angle in [(1, 0.0), (FLEXED_FRAME, FLEXION), (LAST_FRAME, FLEXION)]:
            pose.rotation_quaternion = (math.cos(angle / 2), math.sin(angle / 2), 0, 0)
            pose.keyframe_insert("rotation_quaternion", frame=frame)
    rig.animation_data.action.name = "curl"
    scene.frame_set(1)


def bind_to_nearest(body, rig):
    """Every vertex follows the deforming bone that it is nearest to."""
    bones = [bone for bone in rig.data.bones if bone.use_deform]
    groups = {bone.name: body.vertex_groups.get(bone.name) or body.vertex_groups.new(name=bone.name) for bone in bones}

    def distance(bone, place):
        along = bone.tail_local - bone.head_local
        share = (place - bone.head_local).dot(along) / along.length_squared
        return (bone.head_local + min(1.0, max(0.0, share)) * along - place).length

    for vertex in body.data.vertices:
        nearest = min(bones, key=lambda bone: distance(bone, vertex.co))
        groups[nearest.name].add([vertex.index], 1.0, "REPLACE")


def rigify_all_bones():
    add_human()


def rigify_deform_bones():
    """Export › Data › Armature › Export Deformation Bones Only."""
    add_human()
    return {"export_def_bones": True}


def rigify_original_bones():
    """The muscle names the rig's ORG- bones, which all bones have."""
    add_human("ORG-")


# Scenes with one slip each.

def mistake_rigify_plain_names():
    """The metarig's names."""
    add_human("")
    return {"export_def_bones": True}


def mistake_rigify_original_names():
    """Bones that do not deform, in a file of deforming ones."""
    add_human("ORG-")
    return {"export_def_bones": True}


def mistake_on_data_bone():
    """Bone Properties › Custom Properties, in Edit Mode."""
    rig = add_arm()
    add_biceps(rig, None)
    set_muscle(rig.data.bones["upper_arm"], BICEPS)


def mistake_scale_not_applied_path():
    """An armature object of scale 0.01, with a path measured in its bones' own units."""
    rig = add_arm(unit=100)
    points = [{"joint": "upper_arm", "place": [0, 5, -3]}, {"joint": "forearm", "place": [0, 4, -2]}]
    add_path(rig, json.dumps({"radius": 1.5, "path": points}))
    rig.scale = (0.01, 0.01, 0.01)
    bpy.context.view_layer.update()


def mistake_object_data():
    set_muscle(add_biceps(add_arm(), None).data, BICEPS)


def mistake_capital():
    set_muscle(add_biceps(add_arm(), None), BICEPS, "Sinew.muscle")


def mistake_underscore():
    set_muscle(add_biceps(add_arm(), None), BICEPS, "sinew_muscle")


def mistake_no_prefix():
    set_muscle(add_biceps(add_arm(), None), BICEPS, "muscle")


def mistake_float_property():
    """The type that New gives a property."""
    set_muscle(add_biceps(add_arm(), None), 1.0)


def mistake_default_value():
    """The text was typed into Default Value of the gear's dialog: the value stays New's 1.0, turned into text."""
    set_muscle(add_biceps(add_arm(), None), "1.0")


def mistake_empty_text():
    set_muscle(add_biceps(add_arm(), None), "")


def mistake_on_armature():
    set_muscle(add_arm(), BICEPS)


def mistake_on_bone():
    """Bone Properties › Custom Properties."""
    rig = add_arm()
    add_biceps(rig, None)
    set_muscle(rig.pose.bones["upper_arm"], BICEPS)


def mistake_on_skin():
    """The property on the character's skin."""
    add_arm()
    set_muscle(bpy.data.objects["Arm"], BICEPS)


def mistake_single_quotes():
    add_biceps(add_arm(), "{'origin': 'upper_arm', 'insertion': 'forearm'}")


def mistake_smart_quotes():
    add_biceps(add_arm(), "{\u201corigin\u201d: \u201cupper_arm\u201d, \u201cinsertion\u201d: \u201cforearm\u201d}")


def mistake_trailing_comma():
    add_biceps(add_arm(), '{"origin": "upper_arm", "insertion": "forearm",}')


def mistake_bone_name():
    add_biceps(add_arm(), '{"origin": "upperarm", "insertion": "Forearm"}')


def mistake_key_name():
    add_biceps(add_arm(), '{"origin": "upper_arm", "insertion": "forearm", "peakforce": 400}')


def mistake_no_custom_properties():
    add_biceps(add_arm())
    return {"export_extras": False}


def mistake_no_custom_properties_named_otherwise():
    add_biceps(add_arm(), name="Icosphere.003")
    return {"export_extras": False}


def mistake_far_mesh():
    add_biceps(add_arm(), place=Vector((0, 4, 0)))


def mistake_near_mesh():
    """0.3 m beside the arm: not far enough to be left out."""
    add_biceps(add_arm(), place=Vector((0, 0.3, 0)))


def mistake_far_path():
    far = [{"joint": "upper_arm", "place": [0, 5, -3]}, {"joint": "forearm", "place": [0, 4, -2]}]
    add_path(add_arm(), json.dumps({"radius": 1.5, "path": far}))


def mistake_thick_mesh():
    add_biceps(add_arm(), size=Vector((0.152, 0.08, 0.08)))


def mistake_thick_path():
    add_path(add_arm(), TRICEPS.replace("0.015", "0.15"))


def mistake_not_parented():
    """Skips Ctrl P."""
    rig = add_arm()
    muscle = add_spindle("Biceps", SHOULDER + BICEPS_PLACE, BICEPS_SIZE)
    set_muscle(muscle, BICEPS)


def mistake_armature_modifier():
    """Ctrl P › With Automatic Weights, in place of Object."""
    rig = add_arm()
    muscle = add_spindle("Biceps", SHOULDER + BICEPS_PLACE, BICEPS_SIZE)
    select(rig, muscle)
    bpy.ops.object.parent_set(type="ARMATURE_AUTO")
    set_muscle(muscle, BICEPS)


def mistake_posed_mesh():
    """The muscle was modelled on the flexed arm, not in the rest pose."""
    rig = add_arm()
    muscle = add_biceps(rig, bone="forearm")
    flexed = FLEXION / 2
    for vertex in muscle.data.vertices:
        at = vertex.co - SHOULDER - Vector((UPPER_ARM, 0, 0))
        share = 1 if at.x > 0 else 0
        c, s = math.cos(share * flexed), math.sin(share * flexed)
        vertex.co = SHOULDER + Vector((UPPER_ARM, 0, 0)) + Vector((c * at.x - s * at.z, at.y, s * at.x + c * at.z))


def mistake_ends_no_underscore():
    mark_ends(add_biceps(add_arm()), "SINEW_ENDS")
    return {"export_attributes": True}


def mistake_ends_not_ticked():
    """Marked as they should be, but Data › Mesh › Attributes is not ticked."""
    mark_ends(add_biceps(add_arm()))


def mistake_ends_vertex_group():
    muscle = add_biceps(add_arm())
    group = muscle.vertex_groups.new(name="_SINEW_ENDS")
    group.add([vertex.index for vertex in muscle.data.vertices if vertex.co.x > 0.3], 1.0, "REPLACE")
    return {"export_attributes": True}


def ends_of_another_kind(kind="FLOAT", domain="POINT"):
    """Marked by an attribute of another type or domain than README says, which does as well."""
    mark_ends(add_biceps(add_arm()), kind=kind, domain=domain)
    return {"export_attributes": True}


def mistake_ends_swapped():
    """-1 at the insertion."""
    muscle = add_biceps(add_arm())
    mark_ends(muscle)
    for value in muscle.data.attributes["_SINEW_ENDS"].data:
        value.value = -value.value
    return {"export_attributes": True}


def mistake_ends_one_side():
    muscle = add_biceps(add_arm())
    mark_ends(muscle)
    for value in muscle.data.attributes["_SINEW_ENDS"].data:
        value.value = max(0.0, value.value)
    return {"export_attributes": True}


def mistake_centimetre_places():
    """A rig in metres whose path was measured in a file in centimetres."""
    mistake_far_path()


def mistake_swapped_bones():
    add_biceps(add_arm(), '{"origin": "forearm", "insertion": "upper_arm"}')


def mistake_two_rigs_not_parented():
    """Two rigs with equal names of bones; a muscle that hangs on neither."""
    two_rigs()
    for name in ["Left biceps", "Right biceps"]:
        select(bpy.data.objects[name])
        bpy.ops.object.parent_clear(type="CLEAR_KEEP_TRANSFORM")


def mistake_copied_muscle():
    """Shift D of a muscle for the other arm, with the property as it was."""
    two_rigs()
    copy = bpy.data.objects["Left biceps"].copy()
    copy.location.y += 0.02
    bpy.context.collection.objects.link(copy)


SCENES = {
    name: build for name, build in list(globals().items())
    if inspect.isfunction(build) and not inspect.signature(build).parameters
}
for title, attribute in {
    "integer": {"kind": "INT"}, "byte": {"kind": "INT8"}, "corner": {"domain": "CORNER"}, "face": {"domain": "FACE"},
}.items():
    SCENES[f"ends_{title}"] = functools.partial(ends_of_another_kind, **attribute)


def write(name, folder):
    """Builds a scene in an empty file and exports it: File › Export › glTF 2.0 with Custom Properties ticked."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    options = {"export_extras": True, **(SCENES[name]() or {})}
    bpy.ops.export_scene.gltf(filepath=os.path.join(folder, f"{name}.glb"), export_format="GLB", **options)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", help="where the files go")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(SCENES)}")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in SCENES]
    if unknown:
        parser.error(f"no scene {', '.join(unknown)}")
    os.makedirs(options.out, exist_ok=True)
    failed = []
    for name in options.names or SCENES:
        try:
            write(name, options.out)
        except Exception as error:
            failed.append(name)
            print(f"{name}: {error!r}", file=sys.stderr)
    print(f"Blender {bpy.app.version_string}: {len(options.names or SCENES) - len(failed)} files in {options.out}")
    # Some versions of bpy crash or hang as they free their memory, when all is written.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1 if failed else 0)


if __name__ == "__main__":
    main()
