//! STL and OBJ.

use crate::shapes::*;
use glam::DVec3;
use sinew::character::viperize::*;

fn binary_stl(mesh: &TriangleMesh) -> Vec<u8> {
    let mut bytes = b"solid in name only".to_vec();
    bytes.resize(80, 0);
    bytes.extend((mesh.triangles.len() as u32).to_le_bytes());
    for corners in &mesh.triangles {
        bytes.extend([0; 12]);
        for vertex in corners {
            bytes.extend(
                mesh.positions[*vertex as usize].as_vec3().to_array().iter().flat_map(|part| part.to_le_bytes()),
            );
        }
        bytes.extend([0; 2]);
    }
    bytes
}

fn text_stl(mesh: &TriangleMesh) -> String {
    let mut text = String::from("solid muscle\r\n");
    for corners in &mesh.triangles {
        text += " facet normal 0 0 0\r\n  outer loop\r\n";
        for vertex in corners {
            let place = mesh.positions[*vertex as usize].as_vec3();
            text += &format!("   vertex {:e} {} {}\r\n", place.x, place.y, place.z);
        }
        text += "  endloop\r\n endfacet\r\n";
    }
    text + "endsolid muscle\r\n"
}

fn obj(mesh: &TriangleMesh) -> String {
    let mut text = String::from("# muscle\no muscle\n");
    for place in &mesh.positions {
        text += &format!("v {} {} {}\nvt 0 0\n", place.x, place.y, place.z);
    }
    let count = mesh.positions.len() as i64;
    for [a, b, c] in &mesh.triangles {
        text += &format!("f {}/1 {}//2 {}\n", a + 1, b + 1, i64::from(*c) - count);
    }
    text
}

#[test]
fn all_formats_hold_the_same_mesh() {
    let mesh = spindle();
    let corner =
        |mesh: &TriangleMesh, triangle: usize, corner: usize| mesh.positions[mesh.triangles[triangle][corner] as usize];
    let read = [
        ("binary STL", read_stl(&binary_stl(&mesh), 0.001)),
        ("text STL", read_stl(text_stl(&mesh).as_bytes(), 0.001)),
        ("OBJ", read_obj(obj(&mesh).as_bytes(), 0.001)),
    ];
    for (name, read) in read {
        let read = read.expect(name);
        assert_eq!(
            (read.positions.len(), read.triangles.len()),
            (mesh.positions.len(), mesh.triangles.len()),
            "{name}"
        );
        let apart =
            |index: usize| (corner(&read, index / 3, index % 3) * 1000.0).distance(corner(&mesh, index / 3, index % 3));
        let worst = (0..3 * mesh.triangles.len()).map(apart).fold(0.0, f64::max);
        println!("{name}: apart {worst:.1e} m");
        assert!(worst < 1e-6, "{name}");
    }
}

#[test]
fn polygons_become_fans() {
    let mesh = read_obj(b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n", 2.0).expect("a square");
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(mesh.positions[2], DVec3::new(2.0, 2.0, 0.0));
}

#[test]
fn broken_files_are_refused() {
    let stl = |text: &str| read_stl(text.as_bytes(), 1.0).expect_err("broken STL");
    let obj = |text: &str| read_obj(text.as_bytes(), 1.0).expect_err("broken OBJ");
    let lines = [
        stl("solid\nfacet\nvertex 1 2 x\n"),
        stl("solid\nfacet\n\nendfacet"),
        stl("solid\nvertex 1 nan 2"),
        obj("v 1 2\n"),
        obj("v 0 0 0\nf 1 1 2\n"),
        obj("v 0 0 0\nf 1 1 0\n"),
        obj("v 0 0 0\nf -1 -2 -1\n"),
        obj("v 0 0 0\nf 1 1\n"),
        obj("v 0 0 0\nf 1 1 99999999999999999999\n"),
    ];
    for (error, line) in lines.into_iter().zip([3, 4, 2, 1, 2, 2, 2, 2, 2]) {
        println!("{error}");
        assert!(matches!(&error, ReadMeshError::Line { line: at, .. } if *at == line), "{error:?}");
    }
    let whole = binary_stl(&cylinder());
    let cut = read_stl(&whole[..whole.len() - 1], 1.0);
    assert!(matches!(cut, Err(ReadMeshError::Truncated { .. })), "{cut:?}");
    assert_eq!(read_stl(b"PK", 1.0), Err(ReadMeshError::Unknown));
    assert_eq!(read_obj(&[0xff], 1.0), Err(ReadMeshError::Unknown));
    assert_eq!(read_stl(&whole, 0.0), Err(ReadMeshError::Unit(0.0)));
}

/// Bytes of sound files changed at random: an answer or an error, never a panic.
#[test]
fn bytes_changed_at_random_do_not_panic() {
    let mesh = tube(2, 3, |t| (t * DVec3::Z, DVec3::X, DVec3::Y), |_| 1.0);
    let files = [binary_stl(&mesh), text_stl(&mesh).into_bytes(), obj(&mesh).into_bytes()];
    let mut numbers = Numbers(5);
    let mut read = 0;
    for round in 0..6000 {
        let mut bytes = files[round % 3].clone();
        for _ in 0..=round % 4 {
            let at = (numbers.next() * (bytes.len() - 1) as f64) as usize;
            bytes[at] = (numbers.next() * 255.0) as u8;
        }
        bytes.truncate((numbers.next() * 2.0 * bytes.len() as f64) as usize);
        read += usize::from(read_stl(&bytes, 1.0).is_ok()) + usize::from(read_obj(&bytes, 1.0).is_ok());
    }
    println!("{read} of 12000 readings gave a mesh");
    assert!(read > 0);
}
