//! The fuzzer's worlds, as scenarios: steps at bounds, steps that break rules, accounts that are contracts.
use concord_harness::{
    fuzz::{Divergence, Recipe, document},
    scenario::{Scenario, fill, load, store_document},
};

/// Other worlds than those of `concord fuzz`, whose default differs each time.
const SEED: u64 = 17;
const STEPS: usize = 60;

pub fn worlds(count: usize) -> Vec<Scenario> {
    let folder = tempfile::tempdir().unwrap();
    let nothing_differs = Divergence {
        step: 0,
        operation: String::new(),
        wrong: Vec::new(),
        right: Vec::new(),
    };
    let world = |number| {
        let recipe = Recipe::fresh(SEED, number, STEPS);
        let mut document = document(&recipe.steps(), &nothing_differs, &recipe);
        let file = folder.path().join(format!("world-{number}.json"));
        fill(&mut document, &file).unwrap_or_else(|fault| panic!("world {number}: {fault}"));
        store_document(&file, &document).unwrap();
        load(&file).unwrap_or_else(|fault| panic!("world {number}: {fault}"))
    };
    (0..).take(count).map(world).collect()
}
