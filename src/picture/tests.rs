use super::*;

/// A ball of triangles.
struct Ball {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl Ball {
    fn new(centre: Vec3, radius: f32) -> Self {
        // An octahedron, each triangle cut in four three times.
        let mut corners = vec![Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Y, Vec3::NEG_Z];
        let mut triangles: Vec<[u32; 3]> =
            vec![[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]];
        for _ in 0..3 {
            triangles = triangles
                .iter()
                .flat_map(|&[a, b, c]| {
                    let first = corners.len() as u32;
                    for (i, j) in [(a, b), (b, c), (c, a)] {
                        corners.push((corners[i as usize] + corners[j as usize]).normalize());
                    }
                    let [d, e, f] = [first, first + 1, first + 2];
                    [[a, d, f], [d, b, e], [f, e, c], [d, e, f]]
                })
                .collect();
        }
        Self { positions: corners.iter().map(|c| centre + *c * radius).collect(), normals: corners, triangles }
    }

    fn view(&self) -> MeshView<'_> {
        MeshView {
            positions: &self.positions,
            normals: &self.normals,
            triangles: &self.triangles,
            triangle_colours: &[[0.8, 0.5, 0.35, 1.0]],
        }
    }
}

fn front(points: &[Vec3]) -> Camera {
    Camera::framing(Bounds::of(points), Vec3::new(0.3, 0.4, 1.0), 1.0)
}

const ROD: [Vec3; 3] = [Vec3::new(-0.4, 0.5, 0.0), Vec3::new(0.0, 0.55, 0.0), Vec3::new(0.5, 0.5, 0.1)];

fn full_scene(ball: &Ball) -> Scene<'_> {
    let mut scene = Scene::new(front(&ball.positions));
    scene.meshes.push(ball.view());
    scene.rods.push(OverlayRod { points: &ROD, radii: &[0.05, 0.09, 0.04], colour: [0.7, 0.1, 0.1, 0.9] });
    scene.pills.push(OverlayPill { ends: [ROD[0], ROD[2]], radii: [0.2, 0.1], colour: [0.1, 0.4, 0.8, 0.8] });
    scene
}

#[test]
fn the_same_scene_gives_the_same_bits() {
    let ball = Ball::new(Vec3::new(0.0, 0.5, 0.0), 0.5);
    let image = full_scene(&ball).render(96, 96).unwrap();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/output");
    std::fs::create_dir_all(folder).unwrap();
    image.write_png(format!("{folder}/ball.png")).unwrap();
    const PINNED: u64 = 0x7f0a_4542_8648_d679;
    assert_eq!(
        image.hash(),
        PINNED,
        "the picture changed: look at tests/output/ball.png; if it is right, put {:#018x} into PINNED",
        image.hash()
    );
}

#[test]
fn a_framed_box_fills_the_picture_without_being_cut() {
    for direction in [Vec3::Z, Vec3::new(1.0, 0.5, 1.0), Vec3::new(-2.0, 3.0, 0.1), Vec3::Y, Vec3::NEG_X] {
        for aspect in [0.5, 1.0, 16.0 / 9.0] {
            let bounds = Bounds { min: Vec3::new(5.0, 0.0, -0.3), max: Vec3::new(5.4, 1.8, 0.3) };
            let camera = Camera::framing(bounds, direction, aspect);
            let mut widest = 0.0f32;
            for i in 0..8 {
                let pick = |bit: i32, low: f32, high: f32| if i & bit == 0 { low } else { high };
                let corner = Vec3::new(pick(1, 5.0, 5.4), pick(2, 0.0, 1.8), pick(4, -0.3, 0.3));
                let p = camera.view(corner);
                assert!(p.z > camera.near());
                widest = widest.max((p.x / p.z / camera.half_view[0]).abs());
                widest = widest.max((p.y / p.z / camera.half_view[1]).abs());
            }
            assert!((0.85..0.95).contains(&widest), "{direction} {aspect}: {widest}");
        }
    }
}

#[test]
fn what_is_nearer_hides_what_is_further() {
    let (near, far) = (Ball::new(Vec3::new(0.0, 0.5, 0.6), 0.3), Ball::new(Vec3::new(0.0, 0.5, -0.6), 0.3));
    let colours = [[[1.0, 0.0, 0.0, 1.0]], [[0.0, 0.0, 1.0, 1.0]]];
    for order in [[0, 1], [1, 0]] {
        let mut scene = Scene::new(Camera::framing(Bounds::of(&near.positions), Vec3::Z, 1.0));
        for i in order {
            let ball = [&near, &far][i];
            scene.meshes.push(MeshView { triangle_colours: &colours[i], ..ball.view() });
        }
        let image = scene.render(33, 33).unwrap();
        let middle = &image.rgba[(16 * 33 + 16) * 4..][..4];
        assert!(middle[0] > 2 * middle[2], "{order:?}: {middle:?}");
    }
}

#[test]
fn a_rod_shows_through_the_skin() {
    let ball = Ball::new(Vec3::new(0.0, 0.5, 0.0), 0.5);
    let bare = Scene { rods: Vec::new(), pills: Vec::new(), ..full_scene(&ball) }.render(64, 64).unwrap();
    let seen = Scene { pills: Vec::new(), ..full_scene(&ball) }.render(64, 64).unwrap();
    let changed = bare.rgba.chunks(4).zip(seen.rgba.chunks(4)).filter(|(a, b)| a[1].abs_diff(b[1]) > 20).count();
    assert!((100..1500).contains(&changed), "{changed} pixels");
}

#[test]
fn degenerate_scenes_are_drawn_without_what_cannot_be() {
    let wild = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -1e30, 1e-40, 0.0, 0.3, 1.0];
    let at = |i: usize| wild[i % wild.len()];
    let positions: Vec<Vec3> = (0..729).map(|i| Vec3::new(at(i), at(i / 9), at(i / 81))).collect();
    let normals: Vec<Vec3> = (0..729).map(|i| Vec3::new(at(i / 3), at(i / 7), at(i))).collect();
    let triangles: Vec<[u32; 3]> = (0..4000u32).map(|i| [i * 37 % 729, i * 101 % 729, i * i % 729]).collect();
    let radii: Vec<f32> = (0..729).map(at).collect();
    let mesh = MeshView {
        positions: &positions,
        normals: &normals,
        triangles: &triangles,
        triangle_colours: &[[f32::NAN, 2.0, -1.0, 0.5]],
    };
    let cameras = [
        front(&[Vec3::ZERO, Vec3::ONE]),
        front(&positions),
        Camera::framing_points(&positions, Vec3::NAN, f32::NAN),
        Camera::framing_points(&[], Vec3::ZERO, 0.0),
        Camera::framing(Bounds { min: Vec3::MIN, max: Vec3::MAX }, Vec3::Y, 1.0),
    ];
    for camera in cameras {
        for ground in [None, Some(Ground::default()), Some(Ground { height: f32::NAN, tile: 0.0 })] {
            let mut scene = Scene { ground, meshes: vec![mesh], ..Scene::new(camera) };
            scene.rods.push(OverlayRod { points: &positions, radii: &radii, colour: [f32::NAN; 4] });
            scene.rods.push(OverlayRod { points: &[], radii: &[], colour: [1.0; 4] });
            scene.rods.push(OverlayRod { points: &ROD[..1], radii: &[0.1], colour: [1.0; 4] });
            for i in 0..729 {
                let ends = [positions[i], positions[(i * 7) % 729]];
                scene.pills.push(OverlayPill { ends, radii: [radii[i], radii[(i * 5) % 729]], colour: [0.5; 4] });
            }
            assert_eq!(scene.render(24, 16).unwrap().rgba.len(), 24 * 16 * 4);
        }
    }
}

#[test]
fn an_empty_mesh_and_one_behind_the_camera_change_nothing() {
    let empty = Scene::new(front(&ROD));
    let bare = empty.render(32, 32).unwrap();
    let nothing = MeshView { positions: &[], normals: &[], triangles: &[], triangle_colours: &[] };
    assert_eq!(Scene { meshes: vec![nothing], ..empty.clone() }.render(32, 32).unwrap(), bare);
    let behind = Ball::new(empty.camera.eye - empty.camera.forward * 3.0, 0.5);
    let mut scene = Scene { ground: None, ..empty.clone() };
    let bare = scene.render(32, 32).unwrap();
    scene.meshes.push(behind.view());
    assert_eq!(scene.render(32, 32).unwrap(), bare);
}

#[test]
fn mistakes_are_named() {
    let ball = Ball::new(Vec3::ZERO, 1.0);
    let scene = Scene::new(front(&ball.positions));
    assert!(matches!(scene.render(0, 10), Err(PictureError::Size { .. })));
    assert!(matches!(scene.render(10, MAX_SIDE + 1), Err(PictureError::Size { .. })));
    let render = |mesh| Scene { meshes: vec![mesh], ..scene.clone() }.render(8, 8);
    let error = render(MeshView { normals: &ball.normals[1..], ..ball.view() }).unwrap_err();
    assert!(error.to_string().starts_with("normals: "), "{error}");
    let error = render(MeshView { triangles: &[[0, 1, 9999]], ..ball.view() }).unwrap_err();
    assert!(matches!(error, PictureError::Index { triangle: 0, vertex: 9999, .. }));
    let error = render(MeshView { triangle_colours: &[[0.0; 4]; 2], ..ball.view() }).unwrap_err();
    assert!(error.to_string().contains("triangle_colours"));
    assert!(matches!(write_gif("x.gif", &[], 30), Err(PictureError::NoFrames)));
    let image = scene.render(8, 8).unwrap();
    let frames = [image.clone(), scene.render(8, 9).unwrap()];
    assert!(matches!(write_gif("x.gif", &frames, 30), Err(PictureError::FrameSize { frame: 1, .. })));
    let error = image.write_png("no/such/folder/x.png").unwrap_err();
    assert!(error.to_string().contains("no/such/folder"), "{error}");
}

#[test]
fn a_gif_shows_its_frames() {
    let ball = Ball::new(Vec3::new(0.0, 0.5, 0.0), 0.5);
    let mut scene = full_scene(&ball);
    let first = scene.render(64, 48).unwrap();
    scene.rods.clear();
    let frames = [first.clone(), first, scene.render(64, 48).unwrap()];
    let path = std::env::temp_dir().join(format!("sinew_gif_{}.gif", std::process::id()));
    write_gif(&path, &frames, 40).unwrap();
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(std::fs::File::open(&path).unwrap()).unwrap();
    let mut shown = vec![0u8; 64 * 48 * 4];
    for frame in &frames {
        let block = decoder.read_next_frame().unwrap().unwrap();
        assert_eq!(block.delay, 4);
        for (i, pixel) in block.buffer.chunks_exact(4).enumerate().filter(|(_, p)| p[3] != 0) {
            let (x, y) = (i % block.width as usize, i / block.width as usize);
            let at = ((y + block.top as usize) * 64 + x + block.left as usize) * 4;
            shown[at..at + 4].copy_from_slice(pixel);
        }
        let worst = shown.iter().zip(&frame.rgba).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
        assert!(worst <= 24, "a channel is off by {worst}");
    }
    assert!(decoder.read_next_frame().unwrap().is_none());
    std::fs::remove_file(&path).unwrap();
}
