//! The bounds of every operation's arguments, and steps with values right below, at and above them.
mod table;

use super::{
    random::Random,
    world::{Mutation, Transition, World},
};
use crate::model::{Chain, Operation, Verdict};
use concord_canonical::ErrorClass;
use std::fmt;
use table::BOUNDS;

/// What is bounded in one operation, and the class of a value beyond.
struct Bound {
    /// The operation and the field.
    name: &'static str,
    side: Side,
    limit: Limit,
    /// `None`: this chain has no such bound.
    evm: Option<ErrorClass>,
    svm: Option<ErrorClass>,
    field: Field,
}

/// Which values a bound lets pass.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// The limit and what is below.
    Most,
    /// The limit and what is above.
    Least,
    /// The limit alone.
    Exactly,
}

enum Limit {
    Fixed(i128),
    Drawn(fn(&Operation, &World, u64) -> Option<i128>),
}

struct Field {
    /// `None` if the operation has no such field.
    read: fn(&Operation, &World) -> Option<i128>,
    /// False where the operation cannot have this value there.
    write: fn(&mut Operation, i128, &World, &mut Random) -> bool,
}

/// Where a value is, beside a bound's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The limit less one.
    Below,
    At,
    /// The limit and one more.
    Above,
}

/// A place that a step's value is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reached {
    pub bound: &'static str,
    pub place: Place,
}

impl Place {
    pub const ALL: [Self; 3] = [Self::Below, Self::At, Self::Above];

    const fn distance(self) -> i128 {
        match self {
            Self::Below => -1,
            Self::At => 0,
            Self::Above => 1,
        }
    }
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.place {
            Place::Below => "below",
            Place::At => "at",
            Place::Above => "above",
        };
        write!(f, "{} {place}", self.bound)
    }
}

impl Bound {
    fn limit(&self, operation: &Operation, world: &World, time: u64) -> Option<i128> {
        match self.limit {
            Limit::Fixed(limit) => Some(limit),
            Limit::Drawn(limit) => limit(operation, world, time),
        }
    }

    fn passes(&self, place: Place) -> bool {
        match self.side {
            Side::Most => place != Place::Above,
            Side::Least => place != Place::Below,
            Side::Exactly => place == Place::At,
        }
    }

    fn class(&self, chain: Chain) -> Option<ErrorClass> {
        match chain {
            Chain::Evm => self.evm,
            Chain::Svm => self.svm,
        }
    }

    /// A value that passes was accepted, another one refused for it.
    fn decides(&self, place: Place, verdicts: &[(Chain, Verdict)]) -> bool {
        verdicts.iter().any(|(chain, verdict)| {
            self.class(*chain).is_some_and(|class| {
                if self.passes(place) {
                    *verdict == Verdict::Ok
                } else {
                    *verdict == Verdict::Refused(class)
                }
            })
        })
    }

    fn place(&self, operation: &Operation, world: &World, time: u64) -> Option<Place> {
        let value = (self.field.read)(operation, world)?;
        let limit = self.limit(operation, world, time)?;
        Place::ALL
            .into_iter()
            .find(|place| value == limit + place.distance())
    }

    fn put(
        &self,
        sound: &Operation,
        place: Place,
        (world, time): (&World, u64),
        random: &mut Random,
    ) -> Option<Operation> {
        let mut operation = sound.clone();
        let value = self.limit(sound, world, time)? + place.distance();
        let is_put = (self.field.write)(&mut operation, value, world, random);
        is_put.then_some(operation)
    }
}

/// Every place of every bound.
pub fn places() -> impl Iterator<Item = Reached> {
    BOUNDS.iter().flat_map(|bound| {
        Place::ALL.map(|place| Reached {
            bound: bound.name,
            place,
        })
    })
}

/// Did the bound of this place decide what came of a step?
pub fn decided(reached: Reached, verdicts: &[(Chain, Verdict)]) -> bool {
    let bound = BOUNDS.iter().find(|bound| bound.name == reached.bound);
    bound.is_some_and(|bound| bound.decides(reached.place, verdicts))
}

/// The places that the operation's values are at.
pub fn reached(world: &World, operation: &Operation, time: u64) -> Vec<Reached> {
    let places = BOUNDS.iter().filter_map(|bound| {
        let place = bound.place(operation, world, time)?;
        let bound = bound.name;
        Some(Reached { bound, place })
    });
    places.collect()
}

/// The step with one of its values at a bound or beside it. Where that breaks the rule, its class
/// is due on the chains that would have accepted the step before.
pub fn draw(
    world: &World,
    sound: &Transition,
    time: u64,
    random: &mut Random,
) -> Option<Transition> {
    let mut fitting = Vec::new();
    for bound in BOUNDS {
        for place in Place::ALL {
            let put = bound.put(&sound.operation, place, (world, time), random);
            fitting.extend(put.map(|operation| (bound, place, operation)));
        }
    }
    let (bound, place, operation) = random.pick(&fitting)?;
    let accepted = |chain| world.accepts(chain, &sound.operation, time);
    let due = |chain| bound.class(chain).filter(|_| accepted(chain));
    let mutation = (!bound.passes(*place)).then(|| Mutation {
        name: bound.name,
        evm: due(Chain::Evm),
        svm: due(Chain::Svm),
    });
    Some(Transition {
        operation: operation.clone(),
        mutation,
        ..sound.clone()
    })
}
