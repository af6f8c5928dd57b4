//! Kernels with one token changed.

use sinew::gpu::KERNELS;
use sinew::step::Stage;

/// A stage's source with the token of one line changed that is marked `⟨so⟩`.
pub fn changed(stage: Stage, line: &str, to: &str) -> String {
    let spec = KERNELS.iter().find(|(of, _)| *of == stage).and_then(|(_, specs)| specs.first()).expect("has a kernel");
    let (before, rest) = line.split_once('⟨').expect("has a mark");
    let (what, after) = rest.split_once('⟩').expect("has a mark");
    let (source, found) = (spec.written(), format!("{before}{what}{after}"));
    assert_eq!(source.matches(&found).count(), 1, "{}: {found}", stage.name());
    source.replace(&found, &format!("{before}{to}{after}"))
}
