//! Transactions of each type, as alloy writes them in JSON and in bytes.
use alloy::{
    consensus::{
        SignableTransaction, TxEip1559, TxEip2930, TxEip4844, TxEip7702, TxEnvelope, TxLegacy,
    },
    eips::{
        eip2718::Encodable2718,
        eip2930::{AccessList, AccessListItem},
        eip7702::Authorization,
    },
    primitives::{Address, B256, Bytes, Signature, TxKind, U256},
};
use concord_explain::rpc;

fn signature() -> Signature {
    Signature::new(U256::from(0x1234_u64), U256::MAX >> 9, true)
}

fn to() -> Address {
    Address::repeat_byte(0x33)
}

fn access_list() -> AccessList {
    AccessList(vec![
        AccessListItem {
            address: to(),
            storage_keys: vec![B256::repeat_byte(1), B256::ZERO],
        },
        AccessListItem {
            address: Address::repeat_byte(9),
            storage_keys: vec![],
        },
    ])
}

fn input() -> Bytes {
    Bytes::from_static(b"\x00input")
}

fn envelopes() -> Vec<TxEnvelope> {
    let legacy = |chain_id, to| TxLegacy {
        chain_id,
        nonce: 0,
        gas_price: 7,
        gas_limit: 21_000,
        to,
        value: U256::from(300),
        input: input(),
    };
    let with_list = TxEip2930 {
        chain_id: 84532,
        nonce: 128,
        gas_price: 1 << 40,
        gas_limit: 1,
        to: TxKind::Call(to()),
        value: U256::ZERO,
        input: input(),
        access_list: access_list(),
    };
    let dynamic = TxEip1559 {
        chain_id: 1,
        nonce: u64::MAX,
        gas_limit: 3,
        max_fee_per_gas: 256,
        max_priority_fee_per_gas: 0,
        to: TxKind::Create,
        value: U256::MAX,
        access_list: AccessList::default(),
        input: Bytes::new(),
    };
    let blob = TxEip4844 {
        chain_id: 1,
        nonce: 1,
        gas_limit: 2,
        max_fee_per_gas: 3,
        max_priority_fee_per_gas: 4,
        to: to(),
        value: U256::from(5),
        access_list: access_list(),
        blob_versioned_hashes: vec![B256::repeat_byte(1), B256::repeat_byte(2)],
        max_fee_per_blob_gas: 6,
        input: input(),
    };
    let authorization = Authorization {
        chain_id: U256::from(1),
        address: to(),
        nonce: 4,
    };
    let set_code = TxEip7702 {
        chain_id: 1,
        nonce: 1,
        gas_limit: 2,
        max_fee_per_gas: 3,
        max_priority_fee_per_gas: 4,
        to: to(),
        value: U256::from(5),
        access_list: access_list(),
        authorization_list: vec![authorization.into_signed(signature())],
        input: input(),
    };
    vec![
        legacy(None, TxKind::Create).into_signed(signature()).into(),
        legacy(Some(84532), TxKind::Call(to()))
            .into_signed(signature())
            .into(),
        with_list.into_signed(signature()).into(),
        dynamic.into_signed(signature()).into(),
        blob.into_signed(signature()).into(),
        set_code.into_signed(signature()).into(),
    ]
}

#[test]
fn transactions_of_each_type_are_the_bytes_that_alloy_makes() {
    for envelope in envelopes() {
        let json = serde_json::to_value(&envelope).expect("JSON");
        let expected = envelope.encoded_2718();
        assert_eq!(
            rpc::transaction(&json).expect("a transaction"),
            expected,
            "{json:#}"
        );
    }
}
