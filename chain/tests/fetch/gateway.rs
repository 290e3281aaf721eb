//! IPFS through a gateway that lies.
use crate::fetch::server::{Server, strict};
use concord_chain::fetch::{FetchError, FetchOptions, Fetcher};
use sha2::{Digest, Sha256};

/// `hello world`: a raw leaf, named with Python's hashlib and base64, and the published CID of a file.
const RAW: &str = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e";
/// The same bytes as [`RAW`] in base16, by Python's hashlib.
const RAW_HEX: &str = "F01551220B94D27B9934D3E08A52E52D7DA7DABFAC484EFE37A5380EE9088F7ACE2EFCDE9";
const FILE: &str = "Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD";
const FILE_BLOCK: &[u8] = b"\x0a\x11\x08\x02\x12\x0bhello world\x18\x0b";

struct Gateway {
    server: Server,
    fetcher: Fetcher,
}

impl Gateway {
    async fn start() -> Self {
        let server = Server::start().await;
        // the operator's own gateway may be in their own network
        let gateway = Some(server.url(""));
        let fetcher = Fetcher::new(FetchOptions {
            gateway,
            ..strict()
        })
        .unwrap();
        Self { server, fetcher }
    }

    fn serve(&self, cid: &str, block: &[u8]) {
        self.server
            .serve(&format!("/ipfs/{cid}?format=raw"), "", block);
    }

    /// Serves a dag-pb block under its own CID.
    fn put(&self, block: &[u8]) -> String {
        let cid = bs58::encode(multihash(block)).into_string();
        self.serve(&cid, block);
        cid
    }

    async fn fetch(&self, uri: &str) -> Result<Vec<u8>, FetchError> {
        let found = self.fetcher.fetch(uri).await?;
        assert_eq!(found.host, None, "the CID proves it, whoever had it");
        Ok(found.bytes)
    }
}

fn multihash(block: &[u8]) -> Vec<u8> {
    [&[0x12, 32][..], &Sha256::digest(block)].concat()
}

fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).unwrap();
    assert!(length < 128);
    [&[number << 3 | 2, length][..], bytes].concat()
}

fn link(name: &str, block: &[u8]) -> Vec<u8> {
    let parts = [field(1, &multihash(block)), field(2, name.as_bytes())].concat();
    field(2, &parts)
}

#[tokio::test]
async fn blocks_that_hash_to_their_cid_are_read() {
    let gateway = Gateway::start().await;
    gateway.serve(RAW, b"hello world");
    gateway.serve(FILE, FILE_BLOCK);
    gateway.serve(RAW_HEX, b"hello world");
    for uri in [
        format!("ipfs://{RAW_HEX}"),
        format!("ipfs://{RAW}"),
        format!("ipfs://{FILE}"),
        format!("IPFS://ipfs/{FILE}"),
        format!("ipfs:{RAW}"),
    ] {
        assert_eq!(gateway.fetch(&uri).await.unwrap(), b"hello world", "{uri}");
    }
}

#[tokio::test]
async fn files_of_several_blocks_and_entries_of_directories_are_read() {
    let gateway = Gateway::start().await;
    let second = b"\x0a\x07\x08\x02\x12\x01!\x18\x01".as_slice();
    gateway.put(FILE_BLOCK);
    gateway.put(second);
    let file = [link("", FILE_BLOCK), link("", second), field(1, &[8, 2])].concat();
    gateway.put(&file);
    let entries = [link("agent.json", &file), link("my agent.json", &file)].concat();
    let directory = [&entries[..], &field(1, &[8, 1])].concat();
    let root = gateway.put(&directory);
    for path in ["agent.json", "agent%2ejson", "my%20agent.json"] {
        let found = gateway.fetch(&format!("ipfs://{root}/{path}")).await;
        assert_eq!(found.unwrap(), b"hello world!", "{path}");
    }
    for (path, reason) in [
        ("/other.json", "has no such entry"),
        ("/agent%2Fjson", "holds a slash or a NUL byte"),
        ("/%ff", "is not UTF-8"),
        ("", "is not a file"),
        ("/agent.json/x", "is not a directory, or a sharded one"),
    ] {
        let found = gateway
            .fetch(&format!("ipfs://{root}{path}"))
            .await
            .unwrap_err();
        assert!(found.to_string().ends_with(reason), "{path}: {found}");
        assert!(found.is_refusal() && found.is_permanent());
    }
}

#[tokio::test]
async fn a_lying_gateway_is_not_believed_and_refutes_nothing() {
    let gateway = Gateway::start().await;
    gateway.serve(RAW, b"hello w0rld");
    gateway.serve(FILE, b"hello world"); // the content, but not the block
    for cid in [RAW, FILE] {
        let found = gateway.fetch(&format!("ipfs://{cid}")).await.unwrap_err();
        assert_eq!(
            found,
            FetchError::ContentMismatch {
                cid: cid.to_owned()
            }
        );
        let is_open = !found.is_refusal() && !found.is_permanent();
        assert!(is_open, "another gateway may have it");
    }
    gateway.serve(RAW, &vec![b' '; 2_097_153]);
    let found = gateway.fetch(&format!("ipfs://{RAW}")).await.unwrap_err();
    let (cid, limit) = (RAW.to_owned(), 2_097_152);
    assert_eq!(found, FetchError::BlockTooLong { cid, limit });
    let is_open = !found.is_refusal() && !found.is_permanent();
    assert!(is_open, "another gateway may send the block itself");
    gateway
        .server
        .redirect(&format!("/ipfs/{RAW}?format=raw"), 302, "/elsewhere");
    let found = gateway.fetch(&format!("ipfs://{RAW}")).await.unwrap_err();
    assert!(
        matches!(found, FetchError::Status { status: 302, .. }),
        "{found}"
    );
}

#[tokio::test]
async fn a_graph_without_end_ends() {
    let gateway = Gateway::start().await;
    // each block links twice to the one below: 2^40 leaves
    let mut block = FILE_BLOCK.to_vec();
    for _ in 0..40 {
        gateway.put(&block);
        block = [link("", &block), link("", &block), field(1, &[8, 2])].concat();
    }
    let root = gateway.put(&block);
    let found = gateway.fetch(&format!("ipfs://{root}")).await.unwrap_err();
    assert!(
        found.to_string().ends_with("needs more than 64 blocks"),
        "{found}"
    );
    assert_eq!(gateway.server.asked(), 64);
}

/// Blocks that consist of unknown fields: the fetcher would hold all of them for an empty file.
#[tokio::test]
async fn padded_blocks_do_not_exceed_the_limit() {
    let gateway = Gateway::start().await;
    let padding = vec![7; 600_000];
    let padded = [
        &[15 << 3 | 2, 0xc0, 0xcf, 0x24][..],
        &padding,
        &field(1, &[8, 2]),
    ]
    .concat();
    gateway.put(&padded);
    let file = |links: usize| [link("", &padded).repeat(links), field(1, &[8, 2])].concat();
    let [few, many] = [2, 4].map(|links| gateway.put(&file(links)));
    let found = gateway.fetch(&format!("ipfs://{few}")).await;
    assert_eq!(found.unwrap(), b"");
    let refused = gateway.fetch(&format!("ipfs://{many}")).await;
    let refused = refused.unwrap_err();
    assert!(matches!(refused, FetchError::TooLong { .. }), "{refused}");
}

#[tokio::test]
async fn malformed_cids_and_blocks_are_refused() {
    let gateway = Gateway::start().await;
    for cid in [
        "",
        "Q",
        "Qm",
        "bafy",
        "zzz",
        "..",
        "QmUNLLsPACCz1vLxQVkXqqLX5R1X345qqfHbsf67hvA3N0",
        "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5",
        "BAFKREIFZJUT3TE7NHYEKKLSS27NH3K72Y",
        "b\u{fc}",
    ] {
        let found = gateway.fetch(&format!("ipfs://{cid}")).await.unwrap_err();
        assert!(matches!(found, FetchError::Cid { .. }), "{cid}: {found}");
        assert!(found.is_permanent());
    }
    assert_eq!(gateway.server.asked(), 0);
    for block in [
        &b"\x0a"[..],
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x0b",
        b"\x0a\x05ab",
        b"\x0a\x02\x08\x05",
        b"",
    ] {
        let cid = gateway.put(block);
        let found = gateway.fetch(&format!("ipfs://{cid}")).await.unwrap_err();
        assert!(
            matches!(found, FetchError::Block { .. }),
            "{block:?}: {found}"
        );
    }
    let none = Fetcher::new(strict()).unwrap();
    assert_eq!(
        none.fetch(&format!("ipfs://{RAW}")).await.unwrap_err(),
        FetchError::NoGateway
    );
    for gateway in ["ipfs.io", "file:///", "https://ipfs.io/?x"] {
        let options = FetchOptions {
            gateway: Some(gateway.to_owned()),
            ..strict()
        };
        assert_eq!(
            Fetcher::new(options).err(),
            Some(FetchError::GatewayMalformed),
            "{gateway}"
        );
    }
}
