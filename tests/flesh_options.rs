//! Flesh fitted anew on a character that is loaded already.

use sinew::Character;
use sinew::character::FleshOptions;

#[test]
fn other_flesh_shares_the_asset() {
    let soft = Character::load(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/arm.glb")).unwrap();
    let mut options = *soft.flesh_options();
    assert_eq!(options, FleshOptions::default());
    options.segments = 5;
    options.material.youngs_modulus = 1e6;
    let firm = soft.with_flesh(&options).unwrap();
    assert!(std::ptr::eq(soft.asset(), firm.asset()), "the file's contents were copied");
    let (old, new) = (&soft.body().flesh, &firm.body().flesh);
    assert_eq!(old.chains().len(), new.chains().len());
    let (fitted, authored) = new.chains().split_at(firm.body().muscles.len());
    assert!(fitted.iter().all(|chain| chain.node_count() == 6));
    assert_eq!(authored.len(), firm.asset().muscles.len());
    for (new, old) in authored.iter().zip(&old.chains()[fitted.len()..]) {
        assert!(new.rest == old.rest && new.name == old.name, "{} is not fitted, yet it changed", new.name);
    }
    assert_eq!(firm.flesh_options(), &options);

    options.material.density = -1.0;
    let error = soft.with_flesh(&options).unwrap_err().to_string();
    println!("{error}");
    assert!(error.contains("arm") && error.contains("density"), "{error}");
}
