//! What no scenario shows of authorizations.
use super::*;
use concord_canonical::ErrorClass::*;
use concord_harness::model::Tamper;

/// On Solana a contract is a key like any other (declared variance 6).
#[test]
fn r6_a_contract_judges_signatures_of_any_length_on_evm() {
    for (chain, verdict) in [
        (Chain::Evm, refused(AuthNotGranted)),
        (Chain::Svm, refused(AuthMalformed)),
    ] {
        for tamper in [Tamper::Truncated, Tamper::Extended] {
            let with = |it: &mut Authorization| {
                (it.signer, it.tamper) = ("contract-gail".into(), Some(tamper.clone()));
            };
            assert_eq!(broken(chain, with), verdict, "{tamper:?}");
        }
        let dirty = |it: &mut Authorization| {
            (it.signer, it.tamper) = ("contract-gail".into(), Some(Tamper::Dirty));
        };
        assert_eq!(broken(chain, dirty), refused(AuthMalformed));
    }
}

#[test]
fn an_authorization_names_every_form_but_the_usual_one() {
    let json = |form| serde_json::to_value(Authorization { form, ..granted() }).unwrap();
    assert_eq!(json(Form::Bounded).get("form"), None);
    assert_eq!(json(Form::DraftV1)["form"], "draft_v1");
    assert_eq!(json(Form::X84)["form"], "x84");
}
