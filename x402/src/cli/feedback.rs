use std::{
    fs,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use concord_canonical::value::Value as Rating;
use concord_chain::{
    evm::{FeeLimit, Fees, Node},
    submission::Timing,
    svm::PriorityFee,
};
use serde_json::json;

use super::{
    CANNOT_CHECK, CliError, VERIFIED,
    config::{Market, read_json},
    keys::Opened,
    options::Give,
    output::print,
};
use crate::{
    feedback::{
        EvmRegistry, FeedbackError, FeedbackFolder, FeedbackGiver, FeedbackRegistry, FileFolder,
        Given, Interaction, Kind, PaymentAttestation, Review, SvmRegistry,
    },
    pay::{Evidence, EvidenceFolder, PayFault},
};

const TIMING: Timing = Timing {
    poll: Duration::from_millis(500),
    replace_after: Duration::from_secs(30),
    give_up_after: Duration::from_secs(300),
};

pub(super) async fn give(options: &Give) -> Result<u8, CliError> {
    let review = if options.resume {
        None
    } else {
        Some(review(options)?)
    };
    let proof: Option<PaymentAttestation> =
        (options.payment_proof.as_deref().map(read_json)).transpose()?;
    let id = &options.place.id;
    let folder = EvidenceFolder::open(&options.place.evidence)?;
    let evidence = folder.load(id)?;
    let evidence =
        evidence.ok_or_else(|| CliError::usage(PayFault::UnknownPurchase(id.clone())))?;
    if let Some(proof) = &proof {
        // before anything is sent: a proof of another payment is not a reason to rate without one
        let interaction = Interaction::of(&evidence)?;
        let required = proof.require_task_ref(&interaction.data.signed.task_ref);
        required.map_err(FeedbackError::from)?;
    }
    let market = Market::connect(&options.config.config).await?;
    let keys = options.keys.open()?;
    let mut registry = registry(options, &market, &keys).await?;
    let store = match &options.files_url {
        Some(base) => FileFolder::served_at(&options.files, base),
        None => FileFolder::ipfs(&options.files),
    };
    let records = FeedbackFolder::beside(&options.place.evidence);
    let mut giver = FeedbackGiver {
        reads: market.reads().before(),
        store: &store,
        folder: &records,
        registry: &mut *registry,
    };
    let given = match review {
        None => giver.resume(id).await?,
        Some(review) => begin(options, &mut giver, &evidence, review, &keys).await?,
    };
    let mut has_proof = given
        .record
        .entry
        .as_ref()
        .is_some_and(|it| it.has_payment_proof);
    if let Some(proof) = proof {
        let task_ref = Interaction::of(&evidence)?.data.signed.task_ref;
        giver.attach_payment_proof(id, &proof, &task_ref).await?;
        has_proof = true;
    }
    report(options, &store, &given, has_proof)
}

async fn begin(
    options: &Give,
    giver: &mut FeedbackGiver<'_>,
    evidence: &Evidence,
    review: Review,
    keys: &Opened,
) -> Result<Given, CliError> {
    let kind = if options.authorized {
        Kind::Authorized
    } else {
        Kind::Open
    };
    let reviewer = keys.reviewer(&evidence.authorization.network())?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |it| it.as_secs());
    Ok(giver.give(evidence, review, kind, &reviewer, now).await?)
}

/// The registry of the chain that is rated on, and the key that submits there.
async fn registry(
    options: &Give,
    market: &Market,
    keys: &Opened,
) -> Result<Box<dyn FeedbackRegistry>, CliError> {
    let chain = &options.chain;
    let configured = market.chain(chain)?;
    if chain.namespace() == "solana" {
        let program = configured.program(chain)?;
        let signer = Box::new(keys.need_svm()?.insecure_clone());
        let fee = PriorityFee::default();
        let cluster = configured.cluster()?;
        let connected = SvmRegistry::connect(cluster, chain, program, signer, fee, TIMING);
        return Ok(Box::new(connected.await?));
    }
    let addresses = configured.addresses(chain)?;
    let signer = Box::new(keys.need_evm()?.clone());
    let node = configured.node()?;
    let limit = fee_limit(options.max_fee.as_deref(), &node).await?;
    let fees = (limit, options.confirmations);
    let connected = EvmRegistry::connect(node, chain, addresses, signer, fees, TIMING);
    Ok(Box::new(connected.await?))
}

/// There is always a limit, so that a node's word about fees does not empty the account.
async fn fee_limit(text: Option<&str>, node: &Node) -> Result<FeeLimit, CliError> {
    let given = FeeLimit::parse(text).map_err(|_| {
        let (value, expected) = (
            text.unwrap_or_default(),
            "not a number of gwei with at most 9 decimals",
        );
        CliError::usage(format!("--max-fee {value}: {expected}"))
    })?;
    Ok(match given.wei() {
        Some(_) => given,
        None => given.of_plan(Fees::current(node, given).await?),
    })
}

fn review(options: &Give) -> Result<Review, CliError> {
    let text = options.value.as_deref().unwrap_or_default();
    let value = rating(text).ok_or_else(|| {
        let limits = "expected a number within ±1e38 with at most 18 decimals (R16)";
        CliError::usage(format!("--value {text:?}: {limits}"))
    })?;
    let tags = options.tag1.clone().zip(options.tag2.clone());
    Ok(Review {
        value,
        tags: tags.map(|(tag1, tag2)| [tag1, tag2]),
        comment: options.comment.clone(),
    })
}

/// Decimal text, digit by digit: `99.77` is 9977 with 2 decimals.
fn rating(text: &str) -> Option<Rating> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let is_number = |it: &str| it.bytes().all(|byte| byte.is_ascii_digit());
    if digits.is_empty() || !is_number(digits) || !is_number(fraction) || text.ends_with('.') {
        return None;
    }
    let value: i128 = format!("{whole}{fraction}").parse().ok()?;
    Rating::new(value, u8::try_from(fraction.len()).ok()?).ok()
}

/// After the feedback was read back, the file on disk is hashed once more.
fn report(
    options: &Give,
    store: &FileFolder,
    given: &Given,
    has_proof: bool,
) -> Result<u8, CliError> {
    let landed = |error: &dyn ToString| {
        let (index, transaction) = (given.entry.index, &given.entry.transaction);
        let words = format!(
            "feedback {index} landed in {transaction}: {}",
            error.to_string()
        );
        CliError::new(CANNOT_CHECK, words)
    };
    let path = store.path(given.record.file.as_bytes());
    let file = fs::read(&path);
    let file = file.map_err(|error| landed(&format!("{}: {error}", path.display())))?;
    let hash = concord_canonical::hash::keccak256(&file);
    let on_chain = given.entry.file().map(|(_, hash)| hash).unwrap_or_default();
    if hash != on_chain {
        let words = format!("{} is not the file of the entry on chain", path.display());
        return Err(CliError::new(super::REFUTED, words));
    }
    let hash = format!("0x{}", hex::encode(hash));
    let result = json!({
        "id": given.record.id,
        "state": "verified",
        "agentRegistry": given.record.registry,
        "agentId": given.record.submission.agent_id,
        "clientAddress": given.record.client,
        "index": given.entry.index,
        "transaction": given.entry.transaction,
        "block": given.entry.block,
        "feedbackURI": given.record.submission.uri,
        "feedbackHash": hash,
        "file": path.display().to_string(),
        "hasPaymentProof": has_proof,
    });
    let text = format!(
        "feedback {} for agent {} by {}\ntransaction  {}\nfile         {}\nfile hash    {hash}\non chain     0x{}\n",
        given.entry.index,
        given.record.submission.agent_id,
        given.record.client,
        given.entry.transaction,
        given.record.submission.uri,
        hex::encode(on_chain),
    );
    print(options.config.json, &result, &text).map_err(|error| landed(&error))?;
    Ok(VERIFIED)
}

#[cfg(test)]
mod tests {
    use super::rating;

    #[test]
    fn a_rating_is_read_digit_by_digit() {
        let parts = |text: &str| rating(text).map(|it| (it.value(), it.decimals()));
        assert_eq!(parts("95"), Some((95, 0)));
        assert_eq!(parts("99.77"), Some((9977, 2)));
        assert_eq!(parts("-3.20"), Some((-320, 2)));
        assert_eq!(parts("-0.5"), Some((-5, 1)));
        for text in ["", "-", ".", "1.", ".5", "1e3", "+1", "1.2.3", "0x1", "--1"] {
            assert_eq!(parts(text), None, "{text}");
        }
        assert_eq!(parts(&format!("1.{}", "0".repeat(19))), None);
        assert_eq!(parts(&"9".repeat(39)), None);
    }
}
