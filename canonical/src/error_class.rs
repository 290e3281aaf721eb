//! The one list of error classes (R25): each named by the rule that was broken, with the native
//! errors of both chains that mean it.

use core::fmt;

/// An error of a Solidity contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SolidityError {
    /// Name and argument types, as hashed for the selector.
    pub signature: &'static str,
    /// First four bytes of keccak256 of the signature.
    pub selector: [u8; 4],
}

/// An error of the Anchor program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnchorError {
    /// Name of the variant of `ConcordError`.
    pub name: &'static str,
    /// Anchor's error code.
    pub code: u32,
}

/// Sources of error numbers on Solana besides the program itself: its framework, the programs that it
/// calls, and those whose instructions stand beside its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Framework {
    /// Anchor's own errors, below 6000, raised by the program.
    Anchor,
    /// The system program.
    System,
    /// Token-2022, with the interfaces that it implements.
    Token2022,
    /// The Ed25519 precompile.
    Ed25519,
}

/// An error of a framework that a user can cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameworkError {
    /// Whose number it is.
    pub framework: Framework,
    /// The framework's own name of it.
    pub name: &'static str,
    /// `InstructionError::Custom` carries it.
    pub code: u32,
}

/// What is known of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassInfo {
    /// The class.
    pub class: ErrorClass,
    /// Its name, as reports and vectors write it.
    pub name: &'static str,
    /// The rule that was broken, in one sentence.
    pub meaning: &'static str,
    /// The id or section of the rule.
    pub ruling: &'static str,
    /// Solidity errors of this class.
    pub solidity: &'static [SolidityError],
    /// Anchor errors of this class.
    pub anchor: &'static [AnchorError],
    /// Errors of the frameworks of this class.
    pub framework: &'static [FrameworkError],
    /// Variants of `InstructionError` and `TransactionError` of this class, which have no number.
    pub runtime: &'static [&'static str],
}

macro_rules! classes {
    ($($name:ident, $ruling:literal, $meaning:literal
       $(, solidity { $($signature:literal = $selector:literal),+ $(,)? })?
       $(, anchor { $($anchor:ident = $code:literal),+ $(,)? })?
       $(, framework { $($framework:ident::$raised:ident = $number:literal),+ $(,)? })?
       $(, runtime { $($runtime:ident),+ $(,)? })?;)+) => {
        /// An error class. The list grows; match with a wildcard arm.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ErrorClass {
            $(#[doc = $meaning] $name,)+
        }

        /// Every class, in the order of the table.
        pub const ALL: &[ErrorClass] = &[$(ErrorClass::$name),+];

        static TABLE: &[ClassInfo] = &[$(ClassInfo {
            class: ErrorClass::$name,
            name: stringify!($name),
            meaning: $meaning,
            ruling: $ruling,
            solidity: &[$($(SolidityError {
                signature: $signature,
                selector: u32::to_be_bytes($selector),
            }),+)?],
            anchor: &[$($(AnchorError { name: stringify!($anchor), code: $code }),+)?],
            framework: &[$($(FrameworkError {
                framework: Framework::$framework,
                name: stringify!($raised),
                code: $number,
            }),+)?],
            runtime: &[$($(stringify!($runtime)),+)?],
        }),+];
    };
}

// Left out: `ProgramFailedToComplete`, which a panic of the program looks like too, and `CallDepth`, which is the caller's. So are
// Anchor's 2012, 2040, 3007 and 3012 and Token-2022's AccountFrozen and NonTransferable: no user of the program can cause them.
classes! {
    // Identity.
    LengthLimit, "R17", "Text exceeds its portable length, or holds a NUL byte.",
        anchor { LengthLimit = 6003 };
    ReservedKey, "R2", "Metadata names the reserved key `agentWallet`.",
        solidity { "ReservedKey()" = 0x50af8b62 },
        anchor { ReservedKey = 6021 };
    ReceiverRefused, "R2", "The receiving contract does not accept the agent's token.",
        // Only a receiver answers with a text: no contract of ours does.
        solidity { "ERC721InvalidReceiver(address)" = 0x64a0ae92, "Error(string)" = 0x08c379a0 };
    AgentNotFound, "§3a", "No agent has this id.",
        solidity { "ERC721NonexistentToken(uint256)" = 0x7e273289 },
        anchor { AgentNotFound = 6001 },
        // Of the account in the mint's place. Token-2022 10 says so of one that does not exist; 11 says
        // IncorrectProgramId.
        framework { Token2022::InvalidMint = 2 };
    NotAuthorized, "§3a", "The caller is not one of those who may do this.",
        solidity { "NotAuthorized(address,uint256)" = 0x615e9ba0 },
        anchor { NotAuthorized = 6014 };
    WalletZero, "R3", "The new wallet is the zero address.",
        solidity { "WalletZero()" = 0x560a6110 },
        anchor { WalletZero = 6022 };
    DeadlinePassed, "R3", "The wallet consent's deadline lies before the chain's time.",
        solidity { "DeadlinePassed(uint256,uint256)" = 0x83f2ba20 };
    DeadlineTooFar, "R3", "The wallet consent's deadline lies more than 300 seconds ahead.",
        solidity { "DeadlineTooFar(uint256,uint256)" = 0x657526de };
    WalletConsentUsed, "R3", "This wallet consent was used before.",
        solidity { "WalletConsentUsed(bytes32)" = 0x2f09ebda };
    WalletConsentMissing, "R3", "The new wallet did not consent.",
        solidity { "WalletConsentMissing(address,bytes32)" = 0xd08596c8 },
        anchor { WalletConsentMissing = 6023 };
    TransferNotAllowed, "§3a", "The token standard refuses the transfer or approval: a stranger, or a wrong holder.",
        solidity {
            "ERC721InsufficientApproval(address,uint256)" = 0x177e802f,
            "ERC721IncorrectOwner(address,uint256,address)" = 0x64283d7b,
            "ERC721InvalidApprover(address)" = 0xa9fbf51f,
            "ERC721InvalidOperator(address)" = 0x5b08ba18,
            "ERC721InvalidOwner(address)" = 0x89c62b64,
            "ERC721InvalidSender(address)" = 0x73c6ac6e,
        },
        framework {
            Token2022::InsufficientFunds = 1,
            Token2022::OwnerMismatch = 4,
            Token2022::MintDecimalsMismatch = 18,
            Token2022::MintRequiredForTransfer = 31,
            Token2022::FeeMismatch = 32,
            Token2022::ImmutableOwner = 34,
            Token2022::NoMemo = 36,
            Token2022::CpiGuardTransferBlocked = 42,
        };
    TokenOperationRefused, "R4", "An agent's token cannot be minted again, frozen, closed while held, or described by others.",
        framework {
            Token2022::FixedSupply = 5,
            Token2022::AlreadyInUse = 6,
            Token2022::NonNativeHasBalance = 11,
            Token2022::InvalidState = 13,
            Token2022::AuthorityTypeNotSupported = 15,
            Token2022::MintCannotFreeze = 16,
            Token2022::NonNativeNotSupported = 19,
            Token2022::ExtensionTypeMismatch = 20,
            Token2022::NoAuthorityExists = 29,
            Token2022::CpiGuardSettingsLocked = 41,
            Token2022::CpiGuardBurnBlocked = 43,
            Token2022::CpiGuardCloseAccountBlocked = 44,
            Token2022::CpiGuardApproveBlocked = 45,
            Token2022::CpiGuardSetAuthorityBlocked = 46,
            Token2022::CpiGuardOwnerChangeBlocked = 47,
            Token2022::ExtensionNotFound = 48,
            Token2022::IncorrectUpdateAuthority = 901_952_960,
        };
    TransferRefused, "R4", "The destination's owner could be changed without a transfer, or it could hide or hold the token.",
        anchor { TransferRefused = 6016 };

    // Authorized feedback.
    ScoreOutOfRange, "R20", "A score lies above 100.",
        solidity { "ScoreOutOfRange(uint8)" = 0xb589c314 },
        anchor { ScoreOutOfRange = 6000 };
    SelfFeedback, "R18", "The reviewer owns or operates the agent.",
        solidity { "SelfFeedback(uint256,address)" = 0x9a0f9b38 },
        anchor { SelfFeedback = 6002 };
    FeedbackIndexStale, "R12", "The index given is not the client's last index plus 1.",
        anchor { FeedbackIndexStale = 6004 };
    AuthMissing, "R6", "No authorization came with the feedback.",
        solidity { "AuthMissing()" = 0x1147c45c },
        anchor { AuthMissing = 6005 };
    AuthMalformed, "R6", "The authorization has the wrong length, a dirty word, or is off the template.",
        solidity { "AuthLength(uint256)" = 0x711e7448, "AuthDirtyWord(uint256)" = 0x02cbdd3f },
        anchor { AuthMalformed = 6006 },
        framework { Ed25519::InvalidDataOffsets = 3, Ed25519::InvalidInstructionDataSize = 4 };
    AuthExpired, "R8", "The authorization's expiry is not after the chain's time.",
        solidity { "AuthExpired(uint256,uint256)" = 0x860ea2c9 },
        anchor { AuthExpired = 6007 };
    AuthIndexLimit, "R8", "The client's last index has reached the authorization's limit.",
        solidity { "AuthIndexLimit(uint64,uint64)" = 0x42f26e01 },
        anchor { AuthIndexLimit = 6008 };
    AuthNotGranted, "R7", "The authorization is for another agent, client, chain or registry, or not the signer's.",
        solidity {
            "AuthWrongAgent(uint256)" = 0x00c462f4,
            "AuthWrongClient(address)" = 0x78ee6091,
            "AuthWrongChain(uint256)" = 0xfd8cb0ad,
            "AuthWrongRegistry(address)" = 0xf71304e1,
            "AuthWrongSigner(address,address)" = 0x03960f06,
            "AuthBadSignature()" = 0x44603e52,
        },
        anchor { AuthWrongSigner = 6009, AuthWrongMessage = 6010 },
        framework { Ed25519::InvalidPublicKey = 0, Ed25519::InvalidSignature = 2 };
    FeedbackNotFound, "§3a", "The client gave this agent no feedback with this index.",
        solidity { "FeedbackNotFound(uint256,address,uint64)" = 0x83e6932a },
        anchor { FeedbackNotFound = 6011 };
    AlreadyRevoked, "§3a", "The feedback is revoked already.",
        solidity { "AlreadyRevoked(uint256,address,uint64)" = 0xb212f65c },
        anchor { AlreadyRevoked = 6012 };
    CounterExhausted, "R8", "A counter has reached its maximum.",
        solidity { "CounterExhausted()" = 0x6ac8ba5e },
        anchor { CounterExhausted = 6013 };

    // Payment proofs.
    PaymentAlreadyProven, "R13", "The feedback has a payment proof already.",
        anchor { PaymentAlreadyProven = 6025 };
    PaymentSpent, "R13", "The payment counted for another feedback.",
        anchor { PaymentSpent = 6026 };
    PaymentNotAccepted, "R13", "Payer, token, amount, payment time or facilitator is not one that counts.",
        anchor {
            PaymentWrongPayer = 6027,
            PaymentInFuture = 6028,
            PaymentWrongToken = 6029,
            PaymentZeroAmount = 6030,
            PaymentWrongFacilitator = 6031,
        };

    // Open feedback and responses.
    DecimalsOutOfRange, "R16", "A value has more than 18 decimals.",
        solidity { "DecimalsOutOfRange(uint8)" = 0xf6f3acb9 },
        anchor { DecimalsOutOfRange = 6033 };
    ValueOutOfRange, "R16", "A value's magnitude exceeds 1e38.",
        solidity { "ValueOutOfRange(int128)" = 0x13ca4d69 },
        anchor { ValueOutOfRange = 6034 };
    EmptyUri, "R19", "A response has no URI.",
        solidity { "EmptyUri()" = 0xd64becfd },
        anchor { EmptyUri = 6035 };
    EmptyClients, "R16", "A summary names no clients.",
        solidity { "EmptyClients()" = 0xc16fc0c2 },
        anchor { EmptyClients = 6036 };

    // Validation.
    ValidatorZero, "§3a", "The validator is the zero address.",
        solidity { "ValidatorZero()" = 0x66b54d0b },
        anchor { ValidatorZero = 6038 };
    RequestExists, "R20", "A request with this hash exists.",
        solidity { "RequestExists(bytes32)" = 0xa4a99c61 },
        anchor { RequestExists = 6039 };
    RequestPrefixCollision, "R20", "Another request shares the first 8 bytes of this hash.",
        anchor { RequestPrefixCollision = 6040 };
    RequestNotFound, "R20", "No request has this hash.",
        solidity { "RequestNotFound(bytes32)" = 0x1a387062 },
        anchor { RequestNotFound = 6041 };
    NotValidator, "R20", "The caller is not the validator that the request names.",
        solidity { "NotValidator(address,address)" = 0x35280571 },
        anchor { NotValidator = 6042 };

    // Deployment.
    RegistryZero, "R2", "The identity registry given to a constructor is the zero address.",
        solidity { "RegistryZero()" = 0x7946f0e5 };
    AlreadyInitialized, "R9", "The registry account exists already.",
        anchor { AlreadyInitialized = 6018 };
    NotUpgradeAuthority, "R9", "The caller is not the program's upgrade authority.",
        anchor { NotUpgradeAuthority = 6017 };
    MalformedChainId, "R9", "Text is not a CAIP-2 chain id.",
        anchor { MalformedChainId = 6019 };
    ProgramIdMismatch, "R9", "The program runs under another id than it was built for.",
        framework { Anchor::DeclaredProgramIdMismatch = 4100 };

    // Solana's account model.
    AccountMismatch, "§3b", "An account is missing, unusable for its part, or not the one that the instruction's arguments derive.",
        anchor { AccountMismatch = 6020, InstructionsTooLong = 6043 },
        framework {
            Anchor::ConstraintMut = 2000,
            Anchor::ConstraintSeeds = 2006,
            Anchor::AccountNotEnoughKeys = 3005,
            Anchor::InvalidProgramId = 3008,
            Token2022::MintMismatch = 3,
            Token2022::IncorrectAccount = 2_724_315_840,
        },
        runtime {
            ExternalAccountLamportSpend,
            IllegalOwner,
            IncorrectProgramId,
            InvalidAccountData,
            InvalidArgument,
            InvalidSeeds,
            MissingAccount,
            NotEnoughAccountKeys,
            PrivilegeEscalation,
            ReadonlyDataModified,
            UninitializedAccount,
        };
    SignatureMissing, "R25", "An account that must sign did not.",
        framework { Anchor::ConstraintSigner = 2002, Anchor::AccountNotSigner = 3010 },
        runtime { MissingRequiredSignature };
    InsufficientLamports, "R25", "The payer has too few lamports for the fee, or for the rent of what it creates or keeps.",
        framework { System::ResultWithNegativeLamports = 1 },
        runtime { AccountNotFound, InsufficientFundsForFee, InsufficientFundsForRent };
    TransactionNotAccepted, "R25", "The cluster does not take the transaction: an old blockhash, a repetition, a bad signature, too many accounts.",
        runtime { AlreadyProcessed, BlockhashNotFound, SignatureFailure, TooManyAccountLocks };
    GasLimitTooLow, "R25", "The gas limit does not pay for the code that a long URI becomes.",
        solidity { "DeploymentFailed()" = 0x30116425 };
    NotInTransfer, "R4", "The transfer hook was called outside a Token-2022 transfer.",
        anchor { NotInTransfer = 6015 };

    ListTooLong, "R13", "A list of the registry would pass its limit: 8 tokens, 16 facilitators.",
        anchor { ListTooLong = 6032 };
    AuthorityConsentMissing, "R7", "The new feedback authority did not consent.",
        anchor { AuthorityConsentMissing = 6045 };
    AuthSchemeUnknown, "R10", "An agent's auth schemes name one that does not exist, or none.",
        anchor { AuthSchemeUnknown = 6024 };
    SummaryGap, "R16", "A summary's input leaves out an entry of a listed client, or names a range that the client's entries do not fill.",
        anchor { SummaryGap = 6037, SummaryRange = 6044 };

    // Off chain.
    BadRequest, "ORACLE", "A request lacks an argument, has an unknown one, or one of the wrong type.",
        // Solidity panics where calldata claims a URI of 2^64 bytes, and nowhere else.
        solidity { "SummaryPartMismatch(uint256)" = 0x05a3a814, "Panic(uint256)" = 0x4e487b71 },
        framework {
            Anchor::InstructionFallbackNotFound = 101,
            Anchor::InstructionDidNotDeserialize = 102,
            Token2022::InvalidInstruction = 12,
        },
        runtime { InvalidInstructionData };
    BadSignature, "R23", "A well-formed signature does not hold for the message and signer.";
    MalformedSignature, "R23", "Bytes are not a signature in the one accepted form.";
    MalformedKey, "R23", "Bytes are not a key of the curve.";
    MalformedAccountId, "R24", "Text is not a CAIP-10 account id.";
    MalformedAddress, "R1", "Text is not an address of its chain's kind.";
    MalformedTaskRef, "R24", "Text is not a task reference.";
    MalformedTag, "R14", "Bytes are not a canonical tag.";
    MalformedFeedbackId, "BP", "Text is not a feedback id.";
    MalformedJson, "R22", "Text is not JSON.";
    DuplicateKey, "R22", "A JSON object names one key twice.";
    LoneSurrogate, "R22", "A JSON string holds half a surrogate pair.";
    NumberOutOfRange, "R22", "A number does not fit its type.";
    RequestTooLong, "R24", "A request does not fit the data hash's 4-byte length prefix.";
}

impl ErrorClass {
    /// Everything the table knows of this class.
    pub fn info(self) -> &'static ClassInfo {
        // `TABLE` and the enum come from one macro, in one order.
        &TABLE[self as usize]
    }

    /// The name, as reports and vectors write it.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The class of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        TABLE
            .iter()
            .find(|info| info.name == name)
            .map(|info| info.class)
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The class of a Solidity error, from the first four bytes of the revert data. `None` for an
/// error without a mapping, which must fail a conformance run (R25).
pub fn class_of_selector(selector: [u8; 4]) -> Option<ErrorClass> {
    TABLE
        .iter()
        .find(|info| info.solidity.iter().any(|e| e.selector == selector))
        .map(|info| info.class)
}

/// The class of an Anchor error code. `None` for an error without a mapping, which must fail a
/// conformance run (R25).
pub fn class_of_anchor_code(code: u32) -> Option<ErrorClass> {
    TABLE
        .iter()
        .find(|info| info.anchor.iter().any(|e| e.code == code))
        .map(|info| info.class)
}

/// The class of a framework's error. `None` for an error without a mapping, which must fail a
/// conformance run (R25).
pub fn class_of_framework_error(framework: Framework, code: u32) -> Option<ErrorClass> {
    let is_it = |e: &FrameworkError| e.framework == framework && e.code == code;
    TABLE
        .iter()
        .find(|info| info.framework.iter().any(is_it))
        .map(|info| info.class)
}

/// The class of the runtime's error of this name: a variant of `InstructionError` other than
/// `Custom`, or of `TransactionError`. `None` for an error without a mapping, which must fail a
/// conformance run (R25).
pub fn class_of_runtime_error(name: &str) -> Option<ErrorClass> {
    TABLE
        .iter()
        .find(|info| info.runtime.contains(&name))
        .map(|info| info.class)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;
    use std::collections::BTreeSet;

    #[test]
    fn r25_a_class_is_shown_by_its_name() {
        for info in TABLE {
            assert_eq!(std::format!("{}", info.class), info.name);
            assert_eq!(
                std::format!("{:>40}", info.class),
                std::format!("{:>40}", info.name)
            );
        }
    }

    #[test]
    fn r25_selectors_are_those_of_their_signatures() {
        for error in TABLE.iter().flat_map(|info| info.solidity) {
            let hash = hash::keccak256(error.signature.as_bytes());
            assert_eq!(hash[..4], error.selector, "{}", error.signature);
        }
    }

    #[test]
    fn r25_every_native_error_has_exactly_one_class() {
        let mut selectors = BTreeSet::new();
        let mut codes = BTreeSet::new();
        let mut numbers = BTreeSet::new();
        let mut names = BTreeSet::new();
        for info in TABLE {
            for error in info.solidity {
                assert!(selectors.insert(error.selector), "{}", error.signature);
                assert_eq!(class_of_selector(error.selector), Some(info.class));
            }
            for error in info.anchor {
                assert!(codes.insert(error.code), "{}", error.name);
                assert_eq!(class_of_anchor_code(error.code), Some(info.class));
            }
            for error in info.framework {
                let (framework, code) = (error.framework, error.code);
                assert!(numbers.insert((framework, code)), "{}", error.name);
                assert_eq!(class_of_framework_error(framework, code), Some(info.class));
            }
            for name in info.runtime {
                assert!(names.insert(name), "{name}");
                assert_eq!(class_of_runtime_error(name), Some(info.class));
            }
        }
        assert!(!selectors.is_empty() && !codes.is_empty());
        assert!(!numbers.is_empty() && !names.is_empty());
    }

    #[test]
    fn r25_unmapped_native_errors_have_no_class() {
        assert_eq!(class_of_selector([0; 4]), None);
        assert_eq!(class_of_selector(0xf92e_e8a9u32.to_be_bytes()), None); // InvalidInitialization()
        assert_eq!(class_of_anchor_code(5999), None);
        assert_eq!(class_of_anchor_code(6046), None);
        // Anchor's number is none of Token-2022's, nor the reverse
        assert_eq!(class_of_framework_error(Framework::Token2022, 3005), None);
        assert_eq!(class_of_framework_error(Framework::Anchor, 4), None);
        // what a panic of the program looks like, among others
        assert_eq!(class_of_runtime_error("ProgramFailedToComplete"), None);
        assert_eq!(class_of_runtime_error("Custom"), None);
    }

    #[test]
    fn r25_anchor_codes_are_dense_from_6000() {
        let codes: BTreeSet<u32> = TABLE
            .iter()
            .flat_map(|i| i.anchor)
            .map(|e| e.code)
            .collect();
        assert!(codes.into_iter().eq(6000..=6045));
    }

    #[test]
    fn classes_stand_in_the_order_of_the_table_and_keep_their_names() {
        assert_eq!(ALL.len(), TABLE.len());
        for (class, info) in ALL.iter().zip(TABLE) {
            assert_eq!(class.info(), info);
            assert_eq!(info.class, *class);
            assert_eq!(ErrorClass::from_name(class.name()), Some(*class));
            assert_eq!(std::format!("{class:?}"), class.name());
            assert!(info.meaning.ends_with('.') && !info.ruling.is_empty());
        }
        assert_eq!(ErrorClass::from_name("Invalid"), None);
    }
}
