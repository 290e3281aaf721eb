//! Compute units of one flow over many actors.
//!
//! "At bump 255" subtracts what each searched address cost beyond its first try: 1,500 a try.

use crate::localnet::{Localnet, program_id};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;

pub const ACTORS: usize = 200;
const TRY: u64 = 1500;

/// Units spent searching for the address of `seeds` beyond the first try.
pub fn search(seeds: &[&[u8]], program: &Address) -> u64 {
    TRY * u64::from(255 - Address::find_program_address(seeds, program).1)
}

/// Units as run, and with every searched bump at 255.
pub struct Flow {
    /// The instruction's name in the program's interface.
    pub instruction: &'static str,
    /// In which circumstances.
    pub variant: &'static str,
    /// What it may cost at bump 255, and as median.
    pub bars: (u64, Option<u64>),
    as_run: Vec<u64>,
    at_255: Vec<u64>,
}

impl Flow {
    pub fn new(instruction: &'static str, variant: &'static str, bar: u64) -> Self {
        Self {
            instruction,
            variant,
            bars: (bar, None),
            as_run: vec![],
            at_255: vec![],
        }
    }

    pub fn with_median(mut self, bar: u64) -> Self {
        self.bars.1 = Some(bar);
        self
    }

    pub fn add(&mut self, units: u64, searched: u64) {
        self.as_run.push(units);
        self.at_255.push(units - searched);
    }

    /// Runs one instruction whose program searches the addresses of `seeds`.
    pub fn run(
        &mut self,
        net: &mut Localnet,
        sender: &Keypair,
        instruction: Instruction,
        seeds: &[&[&[u8]]],
    ) {
        let sent = net.send(&[sender], &[instruction]).unwrap();
        let searched = seeds.iter().map(|seeds| search(seeds, &program_id()));
        self.add(sent.compute_units_consumed, searched.sum());
    }

    pub fn at_255(&self) -> u64 {
        *self.at_255.iter().max().unwrap()
    }

    pub fn median(&self) -> u64 {
        let mut sorted = self.as_run.clone();
        sorted.sort_unstable();
        sorted[sorted.len() / 2]
    }

    pub fn max(&self) -> u64 {
        *self.as_run.iter().max().unwrap()
    }

    #[track_caller]
    pub fn assert_bar(&self) {
        let (name, variant) = (self.instruction, self.variant);
        let (at_255, median) = (self.at_255(), self.median());
        assert!(
            at_255 <= self.bars.0,
            "{name}, {variant}: {at_255} at bump 255"
        );
        if let Some(bar) = self.bars.1 {
            assert!(median <= bar, "{name}, {variant}: a median of {median}");
        }
    }
}
