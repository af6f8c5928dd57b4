//! `sinew bake`: killed and gone on with, shared, and what it says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const ARM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/arm.glb");

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sinew-bake-tool-{name}-{}", std::process::id()));
        let _gone = std::fs::remove_dir_all(&path);
        Self(path)
    }

    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = std::fs::read_dir(&self.0).unwrap().map(Result::unwrap);
        entries.map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())).collect()
    }

    /// How many shards are there.
    fn shards(&self) -> usize {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "safetensors")).count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.0);
    }
}

fn command(folder: &Path, samples: u32, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command
        .args(["bake", ARM, "--threads", "2", "--most-time", "3", "--shard-samples", "3", "--samples"])
        .arg(samples.to_string());
    command.arg("--out").arg(folder).args(more);
    command
}

/// Tests of which one must not slow down another.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn finished(child: Child) -> String {
    told(child.wait_with_output().unwrap())
}

fn told(output: Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    text
}

#[test]
fn killed_ten_times_and_gone_on_with_it_is_the_same_data() {
    const SAMPLES: u32 = 120;
    let _alone = alone();
    let (whole, killed, first) = (Folder::new("whole"), Folder::new("killed"), Folder::new("first"));
    let timed = |folder: &Folder, samples| {
        let start = Instant::now();
        told(command(&folder.0, samples, &[]).output().unwrap());
        start.elapsed()
    };
    let (begins, took) = (timed(&first, 3), timed(&whole, SAMPLES));
    let mut seed = u64::from(std::process::id());
    let (mut kills, mut begun) = (0, Vec::new());
    for _ in 0..100 {
        if kills == 10 {
            break;
        }
        let mut child = command(&killed.0, SAMPLES, &[]).stdout(Stdio::null()).spawn().unwrap();
        // At random, from at once until an eighth of it is done.
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = (seed >> 40) as f64 / f64::from(1_u32 << 24);
        std::thread::sleep((begins + took.mul_f64(0.125)).mul_f64(share).max(Duration::from_millis(1)));
        match child.try_wait().unwrap() {
            Some(status) => assert!(status.success()),
            None => {
                child.kill().unwrap();
                child.wait().unwrap();
                kills += 1;
                begun.push(killed.shards());
            }
        }
        if killed.0.join("manifest.json").exists() {
            break;
        }
    }
    println!("one run took {took:.1?}; after each kill there were {begun:?} of 40 shards");
    assert!(kills == 10 && *begun.last().unwrap() > 0, "{kills} kills");
    let text = told(command(&killed.0, SAMPLES, &[]).output().unwrap());
    println!("{text}");
    assert!(text.contains("there before") && !text.contains("damaged"), "{text}");
    let (whole, killed) = (whole.files(), killed.files());
    assert_eq!(whole.keys().collect::<Vec<_>>(), killed.keys().collect::<Vec<_>>());
    assert!(whole == killed, "killed and gone on with, it has other bytes");
    assert_eq!(whole.len(), 41);
}

#[test]
fn shares_at_once_are_the_same_data() {
    const SAMPLES: u32 = 30;
    let _alone = alone();
    let (whole, shared) = (Folder::new("one"), Folder::new("shared"));
    told(command(&whole.0, SAMPLES, &["--seed", "5"]).output().unwrap());
    let start = |share: &&str| {
        let mut command = command(&shared.0, SAMPLES, &["--seed", "5", "--shard", share]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    // The array's last job comes later.
    let jobs: Vec<Child> = ["0/3", "1/3"].iter().map(start).collect();
    for job in jobs {
        let text = finished(job);
        assert!(text.contains("without --shard makes the whole"), "{text}");
    }
    assert!(!shared.0.join("manifest.json").exists());
    let text = finished(start(&"2/3"));
    assert!(text.contains("manifest.json"), "{text}");
    assert!(whole.files() == shared.files(), "shares have other bytes");
    // Joined again, it is as it was.
    let text = told(command(&shared.0, SAMPLES, &["--seed", "5"]).output().unwrap());
    assert!(text.contains("0 baked, 10 there before"), "{text}");
    assert!(whole.files() == shared.files());
}

#[test]
fn errors_name_the_thing_and_the_fix() {
    let _alone = alone();
    let folder = Folder::new("errors");
    std::fs::create_dir_all(&folder.0).unwrap();
    let limits = folder.0.join("limits.json");
    std::fs::write(&limits, r#"{ "version": 1, "joints": { "forarm": { "twist": [0, 20] } } }"#).unwrap();
    let limits = limits.to_str().unwrap();
    let out = folder.0.join("data");
    for (more, code, part) in [
        (&["--shard", "3/3"][..], 2, "I from 0 to N - 1"),
        (&["--poses", "nowhere.json"], 2, "nowhere.json"),
        (&["--poses", limits], 2, "did you mean \"forearm\""),
        (&["--per-pose", "0"], 2, "per_pose is 0"),
        (&["--muscles", "none.json"], 2, "none.json"),
    ] {
        let output = command(&out, 10, more).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        println!("{error}");
        assert!(output.status.code() == Some(code) && error.contains(part), "{error}");
        assert!(!out.exists(), "nothing is written");
    }
    std::fs::write(limits, r#"{ "version": 1, "joints": { "forearm": { "twist": [0, 20] } } }"#).unwrap();
    let text = told(command(&out, 6, &["--poses", limits]).output().unwrap());
    assert!(text.contains("6 samples of 1 joints"), "{text}");
    let output = command(&out, 7, &["--poses", limits]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && error.contains("its samples is 6, not 7"), "{error}");
}
