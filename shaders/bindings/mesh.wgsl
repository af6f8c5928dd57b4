// Triangles of meshes and of convex polyhedra; the twin of src/shape/mesh.rs, src/shape/convex.rs and src/shape/boxes.rs.

// How far a direction may be outside an edge's or a corner's region, by its cosine: as digits go here.
const EDGE_SLACK: f32 = 1.0e-5;

// From a triangle's nearest point to a point, and what of it that is on: its face, an edge from 1 on, or a corner from 4 on.
struct OnTriangle {
    out: vec3<f32>,
    feature: u32,
}

fn nearest_on(corners: array<vec3<f32>, 3>, spot: Spot) -> OnTriangle {
    var all_corners = corners;
    let normal = cross(corners[1] - corners[0], corners[2] - corners[0]);
    let size2 = dot(normal, normal);
    var is_inside = size2 > 0.0;
    var best = OnTriangle(vec3<f32>(), 0u);
    var best2 = MOST_DUAL;
    for (var k = 0u; k < 3u; k++) {
        let at = all_corners[k];
        let along = all_corners[(k + 1u) % 3u] - at;
        let point = (spot.far - at) + spot.near;
        // Signed areas over the edges, seen from the face.
        is_inside = is_inside && dot(cross(along, point), normal) > 0.0;
        let share = dot(along, point) / larger(dot(along, along), MIN_POSITIVE);
        let out = point - along * between(share, 0.0, 1.0);
        let distance2 = dot(out, out);
        if distance2 < best2 {
            best2 = distance2;
            var feature = 1u + k;
            if share <= 0.0 {
                feature = 4u + k;
            } else if share >= 1.0 {
                feature = 4u + (k + 1u) % 3u;
            }
            best = OnTriangle(out, feature);
        }
    }
    if is_inside {
        let point = (spot.far - corners[0]) + spot.near;
        return OnTriangle(normal * (dot(normal, point) / size2), 0u);
    }
    return best;
}

// From a convex polyhedron: inside, from the nearest of its planes; outside, from the nearest of its triangles.
fn from_convex(shape: u32, spot: Spot) -> Facing {
    let count = solids[shape];
    var inside = Facing(-MOST_DUAL, vec3<f32>(0.0, 1.0, 0.0), true);
    for (var k = 0u; k < count; k++) {
        let at = shape + 1u + k * CONVEX_ENTRIES;
        let normal = vector_at(at);
        let distance = (dot(normal, spot.far) - number_at(at + 3u)) + dot(normal, spot.near);
        if distance > inside.distance {
            inside = Facing(distance, normal, true);
        }
    }
    if inside.distance <= 0.0 {
        return inside;
    }
    var best = Facing(MOST_DUAL, inside.normal, true);
    for (var k = 0u; k < count; k++) {
        let at = shape + 1u + k * CONVEX_ENTRIES;
        let corners = array<vec3<f32>, 3>(vector_at(at + 4u), vector_at(at + 7u), vector_at(at + 10u));
        let there = nearest_on(corners, spot);
        let length = sqrt(dot(there.out, there.out));
        if length < best.distance {
            let on_face = there.feature == 0u || length == 0.0;
            best = Facing(length, select(there.out * (1.0 / larger(length, MIN_POSITIVE)), vector_at(at), on_face), true);
        }
    }
    return best;
}

// A mesh's point.
fn point_of(shape: u32, point: u32) -> vec3<f32> {
    return vector_at(shape + solids[shape + MESH_POINTS] + point * 3u);
}

fn triangle_at(shape: u32, triangle: u32) -> u32 {
    return shape + solids[shape + MESH_TRIANGLES] + triangle * TRIANGLE_ENTRIES;
}

fn corners_of(shape: u32, triangle: u32) -> array<vec3<f32>, 3> {
    let at = triangle_at(shape, triangle);
    return array<vec3<f32>, 3>(
        point_of(shape, solids[at]),
        point_of(shape, solids[at + 1u]),
        point_of(shape, solids[at + 2u]),
    );
}

fn is_one_sided(shape: u32) -> bool {
    return solids[shape + MESH_ONE_SIDED] != 0u;
}

// From a mesh's triangle, which has no inside: of one of two sides from the side on which the point is; of one of one side it is
// negative behind it.
fn from_triangle(shape: u32, triangle: u32, spot: Spot) -> Facing {
    let corners = corners_of(shape, triangle);
    let face = direction(cross(corners[1] - corners[0], corners[2] - corners[0]));
    let above = dot(face, (spot.far - corners[0]) + spot.near);
    let side = select(face, face * -1.0, above < 0.0);
    let there = nearest_on(corners, spot);
    if there.feature == 0u {
        if is_one_sided(shape) {
            return Facing(above, face, true);
        }
        return Facing(abs(above), side, true);
    }
    let length = sqrt(dot(there.out, there.out));
    let normal = select(side, there.out * (1.0 / larger(length, MIN_POSITIVE)), length > 0.0);
    let at = triangle_at(shape, triangle);
    // Of all triangles there one is asked.
    var own = ((solids[at + TRIANGLE_ASKED] >> (there.feature - 1u)) & 1u) == 1u;
    if own && there.feature < 4u {
        own = is_at_edge(shape, at, there.feature - 1u, normal);
    } else if own {
        own = is_at_corner(shape, at, there.feature - 4u, normal);
    }
    return Facing(length, normal, own);
}

// Whether a direction from a triangle's edge is in the edge's region, given that it is the first triangle there.
fn is_at_edge(shape: u32, at: u32, k: u32, normal: vec3<f32>) -> bool {
    let from_here = point_of(shape, solids[at + k]);
    let along = direction(point_of(shape, solids[at + (k + 1u) % 3u]) - from_here);
    let list = shape + solids[at + TRIANGLE_ACROSS + 2u * k];
    let count = solids[at + TRIANGLE_ACROSS + 2u * k + 1u];
    var faces = vec3<f32>();
    for (var nth = 0u; nth < count; nth++) {
        var inward = point_of(shape, solids[list + nth]) - from_here;
        inward = inward - along * dot(along, inward);
        // A sliver has no say.
        if dot(inward, inward) > 0.0 {
            inward = direction(inward);
            if dot(normal, inward) > EDGE_SLACK {
                return false;
            }
            faces = faces + cross(along, inward) * select(-1.0, 1.0, nth == 0u);
        }
    }
    return !is_one_sided(shape) || dot(normal, faces) > 0.0;
}

// Whether a direction from a triangle's corner is in the corner's region, given that it is the first triangle there.
fn is_at_corner(shape: u32, at: u32, k: u32, normal: vec3<f32>) -> bool {
    let corner = point_of(shape, solids[at + k]);
    let list = shape + solids[at + TRIANGLE_AROUND + 2u * k];
    let count = solids[at + TRIANGLE_AROUND + 2u * k + 1u];
    var faces = vec3<f32>();
    for (var nth = 0u; nth + 1u < count; nth += 2u) {
        let a = direction(point_of(shape, solids[list + nth]) - corner);
        let b = direction(point_of(shape, solids[list + nth + 1u]) - corner);
        if dot(normal, a) > EDGE_SLACK || dot(normal, b) > EDGE_SLACK {
            return false;
        }
        // By their angles there.
        let face = cross(a, b);
        let size = sqrt(dot(face, face));
        faces = faces + direction(face) * atan2(size, dot(a, b));
    }
    return !is_one_sided(shape) || dot(normal, faces) > 0.0;
}

// Whether a point is behind a triangle's plane where what is there is solid.
fn is_behind(shape: u32, triangle: u32, spot: Spot) -> bool {
    let corners = corners_of(shape, triangle);
    let face = cross(corners[1] - corners[0], corners[2] - corners[0]);
    return is_one_sided(shape) && dot(face, (spot.far - corners[0]) + spot.near) < 0.0;
}

// Whether a box of a mesh's tree, of which this is the first word, touches one.
fn touches_box(at: u32, low: vec3<f32>, high: vec3<f32>) -> bool {
    return all(vector_at(at) <= high) && all(low <= vector_at(at + 3u));
}
