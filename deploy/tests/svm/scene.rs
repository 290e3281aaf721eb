//! What a run that is killed carries out, and on what.
use crate::shared::process::Answer;
use crate::svm::{
    cluster::{Cluster, deployer, program_key},
    workplace::{Workplace, built},
};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_loader_v3_interface::{instruction as loader, state::UpgradeableLoaderState};
use solana_signer::Signer;

/// What is carried out, and on what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scene {
    /// Nothing is deployed.
    First,
    /// Another program is deployed, smaller and the deployer's.
    Upgrade,
    /// The program is deployed, and buffers were left over.
    Reclaim,
    /// The program is deployed, and it and its registry are handed over.
    HandOver,
    /// Another program is deployed, smaller, and it has been handed over.
    UpgradeByOther,
}

pub fn successor() -> Keypair {
    Keypair::new_from_array([8; 32])
}

impl Scene {
    pub fn cluster(self) -> Cluster {
        let cluster = Cluster::start_slow();
        if self == Self::Reclaim {
            leave_a_buffer(&cluster, &Keypair::new_from_array([9; 32]));
            leave_a_buffer(&cluster, &Keypair::new_from_array([10; 32]));
        }
        let key = successor().pubkey().to_string();
        let authority = match self {
            Self::First => return cluster,
            Self::UpgradeByOther => &key,
            _ => "keep",
        };
        let deploy = ["apply", "--yes", "--poll", "40", "--upgrade-authority"];
        let workplace = Workplace::at(&cluster);
        (workplace.run(&[&deploy[..], &[authority]].concat())).assert_done();
        cluster
    }

    pub fn workplace(self, url: &str) -> Workplace {
        let workplace = Workplace::at_url(url);
        match self {
            Self::Upgrade | Self::UpgradeByOther => {
                let id = program_key().pubkey().to_string();
                workplace.with_program("larger", &self.program(), &id)
            }
            _ => workplace,
        }
    }

    pub fn program(self) -> Vec<u8> {
        match self {
            Self::Upgrade | Self::UpgradeByOther => [&built()[..], &[0xaa; 100]].concat(),
            _ => built(),
        }
    }

    pub fn authority(self) -> Address {
        match self {
            Self::First | Self::Reclaim => deployer().pubkey(),
            _ => successor().pubkey(),
        }
    }

    /// Whether the program is killed around this step. Others are the same in other scenes.
    pub fn interrupts(self, step: &str) -> bool {
        self != Self::UpgradeByOther || step == "buffer-authority"
    }

    /// `plan` or `apply`, with what is chosen here.
    pub fn arguments(self, command: &[&str]) -> Vec<String> {
        let key = self.authority().to_string();
        let choices: &[&str] = match self {
            Self::First => &["keep"],
            Self::Upgrade | Self::UpgradeByOther => &[&key, "--upgrade"],
            Self::HandOver => &[&key, "--registry-authority", &key],
            Self::Reclaim => &["keep", "--reclaim-buffers"],
        };
        let all = [command, &["--upgrade-authority"], choices].concat();
        all.into_iter().map(str::to_owned).collect()
    }

    pub fn apply(self) -> Vec<String> {
        self.arguments(&["apply", "--yes", "--poll", "40"])
    }
}

pub fn run(workplace: &Workplace, arguments: &[String]) -> Answer {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    workplace.run(&arguments)
}

fn leave_a_buffer(cluster: &Cluster, buffer: &Keypair) {
    const ELF: usize = 1_000;
    let rent = cluster.rent(UpgradeableLoaderState::size_of_buffer(ELF));
    let payer = deployer().pubkey();
    let open = loader::create_buffer(&payer, &buffer.pubkey(), &payer, rent, ELF);
    cluster.carry_out(&open.unwrap(), &[buffer]);
}
