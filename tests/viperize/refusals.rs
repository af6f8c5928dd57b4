//! Typed errors that name what is wrong.

use crate::shapes::*;
use glam::DVec3;
use sinew::character::viperize::*;

fn refusal(mesh: &TriangleMesh, ends: &Ends, options: &ViperizeOptions) -> ViperizeError {
    let error = viperize(mesh, ends, options, &mut |_| {}).expect_err("it cannot be viperized");
    println!("{error}");
    error
}

fn of_mesh(mesh: &TriangleMesh) -> ViperizeError {
    refusal(mesh, &Ends::Auto, &ViperizeOptions::default())
}

fn of_ends(ends: &Ends) -> ViperizeError {
    refusal(&cylinder(), ends, &ViperizeOptions::default())
}

#[test]
fn meshes_that_are_none() {
    assert_eq!(of_mesh(&TriangleMesh::default()), ViperizeError::NoTriangles);
    let mut mesh = cylinder();
    mesh.positions.fill(DVec3::ONE);
    assert_eq!(of_mesh(&mesh), ViperizeError::NoTriangles);
    let mut mesh = cylinder();
    mesh.triangles[7][1] = 5000;
    assert_eq!(of_mesh(&mesh), ViperizeError::TriangleIndex { triangle: 7, vertex: 5000, vertices: 1202 });
    for bad in [f64::NAN, f64::INFINITY, 1e200] {
        let mut mesh = cylinder();
        mesh.positions[9].y = bad;
        assert_eq!(of_mesh(&mesh), ViperizeError::NotFinite { vertex: 9 });
    }
}

#[test]
fn sheets_enclose_nothing() {
    let mut sheet = TriangleMesh::default();
    for row in 0..=10_u32 {
        for column in 0..=10_u32 {
            sheet.positions.push(0.01 * DVec3::new(f64::from(row), f64::from(column), 0.3));
        }
    }
    for cell in 0..100 {
        let a = cell / 10 * 11 + cell % 10;
        sheet.triangles.extend([[a, a + 1, a + 12], [a, a + 12, a + 11]]);
    }
    assert_eq!(of_mesh(&sheet), ViperizeError::NoVolume);
    // Both its sides at once.
    let back: Vec<_> = sheet.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
    sheet.triangles.extend(back);
    assert_eq!(of_mesh(&sheet), ViperizeError::NoVolume);
}

#[test]
fn ends_that_are_none() {
    let [sources, sinks] = cylinder_faces();
    let ends = |sources: &[u32], sinks: &[u32]| Ends::Vertices { sources: sources.to_vec(), sinks: sinks.to_vec() };
    let everything: Vec<u32> = (0..1202).collect();
    assert_eq!(of_ends(&ends(&[], &sinks)), ViperizeError::EmptyEnd { end: "sources" });
    assert_eq!(of_ends(&ends(&sources, &[])), ViperizeError::EmptyEnd { end: "sinks" });
    assert_eq!(of_ends(&ends(&sources, &sources)), ViperizeError::EndsMeet);
    assert_eq!(of_ends(&ends(&everything, &[])), ViperizeError::EmptyEnd { end: "sinks" });
    let (half, rest) = everything.split_at(601);
    assert_eq!(of_ends(&ends(half, rest)), ViperizeError::EndsMeet);
    let unknown = ViperizeError::EndIndex { end: "sinks", vertex: 1202, vertices: 1202 };
    assert_eq!(of_ends(&ends(&sources, &[1202])), unknown);
    assert_eq!(of_ends(&Ends::Attribute(vec![0.0; 3])), ViperizeError::AttributeLength { values: 3, vertices: 1202 });
    assert_eq!(of_ends(&Ends::Attribute(vec![f32::NAN; 1202])), ViperizeError::EmptyEnd { end: "sources" });
    assert_eq!(of_ends(&Ends::Attribute(vec![1.0; 1202])), ViperizeError::EmptyEnd { end: "sources" });
    assert_eq!(of_ends(&Ends::Nearest([START, START])), ViperizeError::EndsMeet);
    assert_eq!(of_ends(&Ends::Nearest([START, DVec3::NAN])), ViperizeError::Place { end: "insertion" });
}

#[test]
fn an_attribute_marks_ends_as_vertices_do() {
    let [sources, sinks] = cylinder_faces();
    let mut values = vec![0.0; 1202];
    sources.iter().for_each(|&vertex| values[vertex as usize] = -1.0);
    sinks.iter().for_each(|&vertex| values[vertex as usize] = 1.0);
    let of = |ends: &Ends| viperize(&cylinder(), ends, &ViperizeOptions::default(), &mut |_| {});
    let painted = of(&Ends::Attribute(values)).expect("painted");
    assert_eq!(Ok(painted), of(&Ends::Vertices { sources, sinks }));
}

#[test]
fn parts_that_do_not_meet() {
    let mut mesh = cylinder();
    let again = mesh.clone();
    mesh.positions.extend(again.positions.iter().map(|place| *place + DVec3::X * 0.2));
    mesh.triangles.extend(again.triangles.iter().map(|corners| corners.map(|vertex| vertex + 1202)));
    let [sources, sinks] = cylinder_faces();
    let sinks: Vec<u32> = sinks.iter().map(|vertex| vertex + 1202).collect();
    let options = ViperizeOptions::default();
    assert_eq!(refusal(&mesh, &Ends::Vertices { sources, sinks }, &options), ViperizeError::Disconnected);
    // A waist far thinner than a cell.
    let straight = |t: f64| (t * 0.2 * DVec3::X, DVec3::Y, DVec3::Z);
    let hourglass = tube(40, 24, straight, |t| 1e-5 + 0.04 * (2.0 * t - 1.0).powi(2));
    let ends = Ends::Vertices { sources: (0..24).collect(), sinks: (960..984).collect() };
    assert!(matches!(refusal(&hourglass, &ends, &options), ViperizeError::TooThin { .. }));
}

#[test]
fn numbers_out_of_range() {
    type Set = fn(&mut ViperizeOptions);
    let cases: [(&str, Set); 7] = [
        ("fibres", |options| options.fibres = 0),
        ("fibres", |options| options.fibres = 65),
        ("sections", |options| options.sections = 1),
        ("sections", |options| options.sections = 65),
        ("cells", |options| options.cells = 0),
        ("cells", |options| options.cells = usize::MAX),
        ("rounds", |options| options.rounds = usize::MAX),
    ];
    for (wrong, set) in cases {
        let mut options = ViperizeOptions::default();
        set(&mut options);
        let error = refusal(&cylinder(), &Ends::Auto, &options);
        assert!(matches!(error, ViperizeError::Option { name, .. } if name == wrong), "{error}");
    }
    for straightness in [f64::NAN, -1.0] {
        let error = refusal(&cylinder(), &Ends::Auto, &ViperizeOptions { straightness, ..ViperizeOptions::default() });
        assert!(matches!(error, ViperizeError::Straightness { .. }), "{error}");
    }
}

/// Soups of a few random triangles, some of them degenerate, huge or tiny: an answer or an error, never a panic, and
/// nothing that is not finite.
#[test]
fn soups_do_not_panic() {
    let mut numbers = Numbers(11);
    let options = ViperizeOptions { cells: 1000, ..ViperizeOptions::default() };
    let mut made = 0;
    for soup in 0..100 {
        let size = 10_f64.powf(60.0 * numbers.next() - 30.0);
        let vertices = 3 + (numbers.next() * 9.0) as u32;
        let mut place = || size * (DVec3::new(numbers.next(), numbers.next(), numbers.next()) - 0.5);
        let positions: Vec<DVec3> = (0..vertices).map(|_| place()).collect();
        let mut vertex = || ((numbers.next() * f64::from(vertices)) as u32).min(vertices - 1);
        let triangles = (0..vertices * 3).map(|_| [vertex(), vertex(), vertex()]).collect();
        let mesh = TriangleMesh { positions, triangles };
        let ends = if soup % 2 == 0 { Ends::Auto } else { Ends::Nearest([mesh.positions[0], mesh.positions[1]]) };
        if let Ok(viperized) = viperize(&mesh, &ends, &options, &mut |_| {}) {
            let discs = viperized.bundle.fibres.concat();
            assert!(discs.iter().all(|disc| disc.place.is_finite() && disc.radius.is_finite()), "soup {soup}");
            made += 1;
        }
    }
    println!("{made} of 100 soups hold a bundle");
    assert!(made > 0);
}
