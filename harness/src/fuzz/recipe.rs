use super::{
    Transition, WORLD_STEPS,
    coverage::Features,
    random::Random,
    world::{World, next},
};
use std::{fmt, str::FromStr};

/// What a world is made from, so that it can be made again: rows of steps, the later ones going on
/// from the world that the earlier ones led to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Recipe(Vec<Segment>);

/// Steps that are all drawn from one seed and one number. Written `seed-number-steps`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    pub seed: u64,
    pub number: u64,
    pub steps: usize,
}

/// A world that a recipe makes.
pub struct Drawn {
    pub steps: Vec<Transition>,
    /// What each step reached.
    pub features: Vec<Features>,
}

impl Recipe {
    /// One world of a run.
    pub fn fresh(seed: u64, number: u64, steps: usize) -> Self {
        Self(vec![Segment {
            seed,
            number,
            steps,
        }])
    }

    /// The first `kept` steps of this world, and then those of `segment`.
    pub fn continued(&self, kept: usize, segment: Segment) -> Self {
        let mut left = kept;
        let mut segments = Vec::with_capacity(self.0.len() + 1);
        for part in &self.0 {
            let steps = part.steps.min(left);
            left -= steps;
            if steps > 0 {
                segments.push(Segment { steps, ..*part });
            }
        }
        segments.push(segment);
        Self(segments)
    }

    /// The seed of its first steps.
    pub fn seed(&self) -> Option<u64> {
        self.0.first().map(|it| it.seed)
    }

    /// Steps of the world.
    pub fn length(&self) -> usize {
        self.0.iter().map(|it| it.steps).sum()
    }

    /// The steps alone.
    pub fn steps(&self) -> Vec<Transition> {
        self.draw(|_, _, _| ()).0
    }

    /// The steps, and what the model says that each of them reached.
    pub fn with_features(&self) -> Drawn {
        let (steps, features) = self.draw(Features::of_step);
        Drawn { steps, features }
    }

    fn draw<T>(
        &self,
        note: impl Fn(&World, &Transition, &World) -> T,
    ) -> (Vec<Transition>, Vec<T>) {
        let mut steps = Vec::with_capacity(self.length());
        let mut notes = Vec::with_capacity(self.length());
        let mut world = World::new();
        for segment in &self.0 {
            let mut random = Random::of(b"world", segment.seed, segment.number);
            let mut impostors = Random::of(b"impostors", segment.seed, segment.number);
            world.turn_to(segment.number);
            for _ in 0..segment.steps {
                let mut step = next(&world, &mut random);
                step.impostors = Some(impostors.number());
                let after = world.clone().take(&step);
                notes.push(note(&world, &step, &after));
                steps.push(step);
                world = after;
            }
        }
        (steps, notes)
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, segment) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let Segment {
                seed,
                number,
                steps,
            } = segment;
            write!(f, "{comma}{seed}-{number}-{steps}")?;
        }
        Ok(())
    }
}

impl FromStr for Recipe {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let segments: Vec<_> = text.split(',').map(segment).collect::<Result<_, _>>()?;
        let steps = segments
            .iter()
            .map(|it| it.steps)
            .fold(0, usize::saturating_add);
        if steps > WORLD_STEPS {
            return Err(format!(
                "`{text}` has {steps} steps; a world has at most {WORLD_STEPS}"
            ));
        }
        Ok(Self(segments))
    }
}

fn segment(text: &str) -> Result<Segment, String> {
    let fault = || format!("`{text}` is not SEED-NUMBER-STEPS, three numbers in decimal digits");
    let mut parts = text.split('-').map(str::parse::<u64>);
    let mut part = || parts.next().and_then(Result::ok).ok_or_else(fault);
    let (seed, number, steps) = (part()?, part()?, part()?);
    let steps = usize::try_from(steps).map_err(|_| fault())?;
    match parts.next() {
        None => Ok(Segment {
            seed,
            number,
            steps,
        }),
        Some(_) => Err(fault()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_is_read_as_it_is_written() {
        for text in ["7-0-200", "7-0-120,7-93-80", "18446744073709551615-1-1"] {
            assert_eq!(text.parse::<Recipe>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_recipe_is_refused_in_words() {
        for (text, words) in [
            ("", "`` is not SEED-NUMBER-STEPS"),
            ("7-0", "`7-0` is not SEED"),
            ("7-0-1-2", "`7-0-1-2` is not SEED"),
            ("7-0-120,x", "`x` is not SEED"),
            ("7-0-201", "has 201 steps; a world has at most 200"),
            ("7-0-120,7-1-81", "has 201 steps"),
            ("7-0-18446744073709551615,7-0-1", "a world has at most 200"),
        ] {
            let fault = text.parse::<Recipe>().unwrap_err();
            assert!(fault.contains(words), "{fault}");
        }
    }

    #[test]
    fn a_continued_world_begins_as_the_other_did() {
        let whole = Recipe::fresh(7, 3, 40);
        let next = Segment {
            seed: 7,
            number: 9,
            steps: 10,
        };
        let other = whole.continued(25, next);
        assert_eq!(other.to_string(), "7-3-25,7-9-10");
        let (whole, other) = (whole.steps(), other.steps());
        let operations = |steps: &[Transition]| {
            let steps = steps.iter().map(|it| it.operation.clone());
            steps.collect::<Vec<_>>()
        };
        assert_eq!(operations(&other[..25]), operations(&whole[..25]));
        assert_ne!(operations(&other[25..]), operations(&whole[25..35]));
        assert_eq!(other.len(), 35);
    }
}
