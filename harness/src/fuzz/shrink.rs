use super::{Finding, Transition, runner::Runner};
use crate::backend::StepFault;

/// How often a world that differs is played again to find a shorter one.
const SHRINKS_MAX: usize = 600;

/// Leaves out steps for as long as the same participants still differ: half of them at once, then
/// ever fewer, single ones until none can go.
///
/// A step that only one chain plays can hide the difference from the other. A shorter world that
/// names other participants would send the reader to the wrong registry, so it does not count.
pub fn shrink(runner: &mut Runner, finding: &mut Finding) -> Result<(), StepFault> {
    let right = finding.divergence.right.clone();
    let mut length = finding.steps.len() / 2;
    let mut plays = 0;
    while length > 0 && !runner.must_stop() {
        let (mut at, before) = (0, finding.steps.len());
        while at < finding.steps.len() && plays < SHRINKS_MAX {
            plays += 1;
            let mut fewer = without(&finding.steps, at, length);
            match runner.play(&fewer, None)? {
                Some(divergence) if divergence.right == right => {
                    fewer.truncate(divergence.step);
                    (finding.steps, finding.divergence) = (fewer, divergence);
                }
                _ => at += length,
            }
        }
        let goes_on = length == 1 && finding.steps.len() < before && plays < SHRINKS_MAX;
        length = if goes_on { 1 } else { length / 2 };
    }
    Ok(())
}

/// The steps without some of them. Later steps keep their times.
fn without(steps: &[Transition], at: usize, length: usize) -> Vec<Transition> {
    let end = (at + length).min(steps.len());
    let (left_out, mut rest) = (&steps[at..end], steps[end..].to_vec());
    let takes_time = |it: &&Transition| !it.operation.is_read();
    let wait: u64 = left_out.iter().filter(takes_time).map(|it| it.wait).sum();
    if let Some(next) = rest.iter_mut().find(|it| !it.operation.is_read()) {
        next.wait += wait;
    }
    [steps[..at].to_vec(), rest].concat()
}
