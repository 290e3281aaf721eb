use crate::server::paywall::*;
use async_trait::async_trait;
use axum::{Router, routing::get};
use concord_canonical::{
    Word,
    sign::{PreparedKey, PublicKey},
};
use concord_x402::server::{
    Grant, GrantIssuer, GrantRequest, InteractionLayer, KeyError, LocalSigner, Options,
    ResponseSigner, SETTLEMENT_AGE_MAX, SignerError, SigningKey, SigningKeys,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

fn key(byte: u8) -> Arc<LocalSigner> {
    Arc::new(LocalSigner::new(
        PreparedKey::secp256k1(&[byte; 32]).unwrap(),
    ))
}

async fn signed_by(keys: &Arc<SigningKeys>, options: Options) -> Answer {
    let layer = InteractionLayer::with_options(agent(), keys.clone(), options);
    let router = Router::new().route("/", get(|| async { "answer" }));
    ask(settled(router).layer(layer), paid("GET", "/", "")).await
}

fn hex_of(key: PublicKey) -> String {
    match key {
        PublicKey::Secp256k1(bytes) => format!("0x{}", hex::encode(bytes)),
        PublicKey::Ed25519(bytes) => format!("0x{}", hex::encode(bytes)),
    }
}

#[tokio::test]
async fn r30_keys_rotate_with_overlap_while_the_server_runs() {
    let (old, new) = (key(1), key(2));
    let keys = SigningKeys::new(vec![SigningKey::new(old.clone(), 0)])
        .await
        .unwrap();
    let keys = Arc::new(keys);
    let day = 24 * 60 * 60;
    keys.rotate(new.clone(), NOW, day).await.unwrap();

    let signer = |time| keys.at(time, None).map(|key| key.signer.public_key());
    // R30: verifiers ask which key was valid in the block of the settlement, which is older than the answer
    let settled_after = NOW + SETTLEMENT_AGE_MAX;
    for time in [NOW - 1, NOW, settled_after - 1] {
        assert_eq!(signer(time), Some(old.public_key()), "{time}");
    }
    for time in [settled_after, NOW + day, NOW + 100 * day] {
        assert_eq!(signer(time), Some(new.public_key()), "{time}");
    }
    let published: Vec<_> = keys
        .published()
        .iter()
        .map(|it| (it.valid_from, it.valid_until))
        .collect();
    assert_eq!(published, [(0, Some(NOW + day)), (NOW, None)]);

    let now = signed_by(&keys, options()).await.interaction();
    assert_eq!(now["agentSignerPublicKey"], hex_of(old.public_key()));
    let later = Options {
        clock: || NOW + SETTLEMENT_AGE_MAX,
        ..options()
    };
    let later = signed_by(&keys, later).await.interaction();
    assert_eq!(later["agentSignerPublicKey"], hex_of(new.public_key()));
}

/// An agent that gives the old key no overlap signs with the new one at once, as does one that has a single key.
#[tokio::test]
async fn r30_without_an_older_key_the_newest_valid_one_signs() {
    let expired = SigningKey {
        valid_until: Some(NOW),
        ..SigningKey::new(key(1), 0)
    };
    let new = [
        SigningKey::new(key(2), NOW - 9),
        SigningKey::new(key(3), NOW),
    ];
    let all = [vec![expired], new.to_vec()].concat();
    let keys = SigningKeys::new(all).await.unwrap();
    let found = keys.at(NOW, None).unwrap().signer.public_key();
    assert_eq!(found, key(3).public_key());
}

/// The key that was valid when the payment settled counts, whatever its algorithm.
#[tokio::test]
async fn r30_a_key_of_another_algorithm_signs_until_the_new_one_may_have_settled() {
    let keys = vec![
        SigningKey::new(ed25519(), 0),
        SigningKey::new(secp256k1(), NOW),
    ];
    let keys = SigningKeys::new(keys).await.unwrap();
    let preferred = Some(concord_files::Algorithm::Secp256k1);
    let signer = |time| keys.at(time, preferred).unwrap().signer.public_key();
    assert_eq!(signer(NOW), ed25519().public_key());
    assert_eq!(signer(NOW + SETTLEMENT_AGE_MAX), secp256k1().public_key());
}

#[tokio::test]
async fn r34_without_a_valid_key_the_response_is_unsigned() {
    let expired = SigningKey {
        valid_until: Some(NOW),
        ..SigningKey::new(key(1), 0)
    };
    let keys = Arc::new(SigningKeys::new(vec![expired]).await.unwrap());
    let answer = signed_by(&keys, options()).await;
    assert!(answer.is_unsigned());
    assert_eq!(answer.body, b"answer");
}

#[tokio::test]
async fn a_key_of_the_registry_s_algorithm_is_preferred() {
    let both = vec![
        SigningKey::new(ed25519(), 5),
        SigningKey::new(secp256k1(), 0),
    ];
    let keys = Arc::new(SigningKeys::new(both).await.unwrap());
    let found = signed_by(&keys, options()).await.interaction();
    assert_eq!(found["agentSignatureAlgorithm"], "secp256k1");
}

/// What becomes of a signature; `None` if there is never an answer.
type Then = fn(Vec<u8>) -> Option<Result<Vec<u8>, SignerError>>;

/// A signer in another process, which signs its first message and then fails.
struct Remote {
    key: Arc<dyn ResponseSigner>,
    signed: AtomicUsize,
    then: Then,
}

#[async_trait]
impl ResponseSigner for Remote {
    fn public_key(&self) -> PublicKey {
        self.key.public_key()
    }

    async fn sign(&self, hash: &Word) -> Result<Vec<u8>, SignerError> {
        tokio::task::yield_now().await;
        let signature = self.key.sign(hash).await?;
        if self.signed.fetch_add(1, Ordering::SeqCst) == 0 {
            return Ok(signature);
        }
        match (self.then)(signature) {
            Some(answer) => answer,
            None => std::future::pending().await,
        }
    }
}

#[tokio::test]
async fn r34_a_signer_that_fails_never_withholds_a_response() {
    let ethereum_v: Then = |mut signature| {
        signature[64] += 27;
        Some(Ok(signature))
    };
    let fails: Then = |_| Some(Err(SignerError("no session".to_owned())));
    let hangs: Then = |_| None;
    let short: Then = |signature| Some(Ok(signature[..signature.len() - 1].to_vec()));
    let long: Then = |signature| Some(Ok([&signature[..], &[0]].concat()));
    for (key, then) in [
        (secp256k1(), fails),
        (secp256k1(), hangs),
        (secp256k1(), ethereum_v),
        (secp256k1(), short),
        (secp256k1(), long),
        (ed25519(), short),
        (ed25519(), long),
    ] {
        let remote = Remote {
            key,
            signed: AtomicUsize::new(0),
            then,
        };
        let keys = SigningKeys::new(vec![SigningKey::new(Arc::new(remote), 0)])
            .await
            .unwrap();
        let signing_timeout = Duration::from_millis(20);
        let answer = signed_by(
            &Arc::new(keys),
            Options {
                signing_timeout,
                ..options()
            },
        )
        .await;
        assert!(answer.is_unsigned());
        assert_eq!((answer.status, &*answer.body), (200, &b"answer"[..]));
    }
    let works: Then = |signature| Some(Ok(signature));
    let remote = Remote {
        key: secp256k1(),
        signed: AtomicUsize::new(0),
        then: works,
    };
    let keys = SigningKeys::new(vec![SigningKey::new(Arc::new(remote), 0)])
        .await
        .unwrap();
    assert!(!signed_by(&Arc::new(keys), options()).await.is_unsigned());
}

struct OtherKey;

#[async_trait]
impl ResponseSigner for OtherKey {
    fn public_key(&self) -> PublicKey {
        key(4).public_key()
    }

    async fn sign(&self, hash: &Word) -> Result<Vec<u8>, SignerError> {
        key(5).sign(hash).await
    }
}

#[tokio::test]
async fn a_key_is_tried_before_it_is_taken() {
    let keys = SigningKeys::new(vec![SigningKey::new(key(1), 0)])
        .await
        .unwrap();
    let refused = keys
        .replace(vec![SigningKey::new(Arc::new(OtherKey), 0)])
        .await;
    assert!(
        matches!(refused, Err(KeyError::BadSignature(_))),
        "{refused:?}"
    );
    let refused = keys.rotate(Arc::new(OtherKey), NOW, 1).await;
    assert!(
        matches!(refused, Err(KeyError::BadSignature(_))),
        "{refused:?}"
    );
    let empty = SigningKey {
        valid_until: Some(7),
        ..SigningKey::new(key(2), 7)
    };
    let refused = keys.replace(vec![empty]).await.unwrap_err();
    assert_eq!(
        refused,
        KeyError::EmptyWindow {
            valid_from: 7,
            valid_until: 7
        }
    );
    assert_eq!(
        keys.at(NOW, None).unwrap().signer.public_key(),
        key(1).public_key()
    );
    keys.replace(vec![SigningKey::new(key(2), 0)])
        .await
        .unwrap();
    assert_eq!(
        keys.at(NOW, None).unwrap().signer.public_key(),
        key(2).public_key()
    );
}

struct Grants(fn(&GrantRequest<'_>) -> Grant);

#[async_trait]
impl GrantIssuer for Grants {
    async fn issue(&self, request: GrantRequest<'_>) -> Result<Option<Grant>, SignerError> {
        Ok(Some((self.0)(&request)))
    }
}

fn grant(request: &GrantRequest<'_>) -> Grant {
    Grant {
        client: request.payer.to_owned(),
        index_limit: 1,
        expiry: request.expiry_max,
        authorization: vec![7; 289],
    }
}

#[tokio::test]
async fn r41_a_grant_names_the_payer_and_at_most_30_days() {
    let keys = SigningKeys::new(vec![SigningKey::new(key(1), 0)])
        .await
        .unwrap();
    let keys = Arc::new(keys);
    let extension = |issue: fn(&GrantRequest<'_>) -> Grant| {
        let grants: Option<Arc<dyn GrantIssuer>> = Some(Arc::new(Grants(issue)));
        let keys = keys.clone();
        async move {
            let answer = signed_by(
                &keys,
                Options {
                    grants,
                    ..options()
                },
            )
            .await;
            let extensions = answer.json("payment-response")["extensions"].clone();
            assert!(extensions["8004-reputation"]["agentSignature"].is_string());
            assert!(extensions["8004-reputation"].get("authorization").is_none());
            extensions["8004-feedback-auth"].clone()
        }
    };
    let found = extension(grant).await;
    assert_eq!(found["clientAddress"], settlement()["payer"]);
    assert_eq!(found["expiry"], NOW + 30 * 24 * 60 * 60);
    assert_eq!(found["indexLimit"], "1");
    let too_long = |request: &GrantRequest<'_>| Grant {
        expiry: request.expiry_max + 1,
        ..grant(request)
    };
    assert!(extension(too_long).await.is_null());
    let other = |request: &GrantRequest<'_>| Grant {
        client: "0x00".to_owned(),
        ..grant(request)
    };
    assert!(extension(other).await.is_null());

    let answer = signed_by(&keys, options()).await;
    assert!(
        answer.json("payment-response")["extensions"]
            .get("8004-feedback-auth")
            .is_none()
    );
}
