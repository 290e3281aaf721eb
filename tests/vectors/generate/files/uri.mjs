// URIs that hold their content, in the forms found on Base. Expected bytes by Node's Buffer and zlib.
import { gzipSync } from "node:zlib";
import { VectorFile } from "../vector_file.mjs";
import { hex, utf8 } from "../bytes.mjs";

const file = new VectorFile("files/uri", {
  description: "URIs that hold their content (R42). ok: the bytes and the mappings. error: the rule that is broken; the path is uri.",
  packages: [],
});
const json = JSON.stringify({ type: "https://eips.ethereum.org/EIPS/eip-8004#registration-v1", name: "Agent ünï >>>???", description: "50% off" });
const content = utf8(json);
const base64 = Buffer.from(content).toString("base64");
const zipped = gzipSync(content, { level: 9 }).toString("base64");
const accept = (id, comment, flags, uri, mappings = [], expected = content) => file.ok(id, comment, flags, { uri }, { bytes: hex(expected), mappings });
const refuse = (id, comment, flags, uri, rule) => file.error(id, comment, flags, { uri }, { path: "uri", rule });

accept("base64", "the form that ERC-8004 recommends", ["Typical"], `data:application/json;base64,${base64}`);
accept("base64-charset", "a parameter before the label", ["Typical"], `data:application/json;charset=utf-8;base64,${base64}`);
accept("upper-case", "scheme and labels have no case", ["CaseSensitive"], `DATA:Application/JSON;BASE64,${base64}`);
accept("base64-unpadded", "without padding", ["Wording"], `data:application/json;base64,${base64.replace(/=+$/, "")}`, base64.endsWith("=") ? ["unpadded-base64"] : []);
accept("base64-unpadded-2", "two characters of padding missing", ["Wording"], "data:application/json;base64,e30", ["unpadded-base64"], utf8("{}"));
accept("base64-url-safe", "the URL-safe alphabet", ["Wording"], `data:application/json;base64,${base64.replaceAll("+", "-").replaceAll("/", "_")}`, /[+/]/.test(base64) ? ["url-safe-base64"] : []);
accept("base64-percent", "percent-encoded base64", ["Wording"], `data:application/json;base64,${encodeURIComponent(base64)}`, ["percent-encoded-base64"]);
accept("base64-spaces", "white space in base64", ["Wording"], `data:application/json;base64,${base64.match(/.{1,40}/g).join("\n")}`);
accept("base64-unlabelled", "base64 without its label", ["Wording"], `data:application/json,${base64}`, ["unlabelled-base64"]);
accept("plain-labelled-base64", "labelled base64, and plain JSON: found on Base", ["Wording"], `data:application/json;base64,${json.replace("50% off", "half off")}`, ["plain-despite-base64"], utf8(json.replace("50% off", "half off")));
accept("percent", "percent-encoding", ["Typical"], `data:application/json,${encodeURIComponent(json)}`);
accept("percent-utf8", "percent-encoding with a label that RFC 2397 does not know", ["Typical"], `data:application/json;utf8,${encodeURIComponent(json)}`);
accept("percent-literal", "a % that begins no escape", ["Wording"], `data:application/json,${json}`, ["literal-percent"]);
accept("media-type", "another media type", ["Wording"], `data:text/plain;base64,${base64}`, ["media-type"]);
accept("no-media-type", "no media type", ["Wording"], `data:;base64,${base64}`, ["media-type"]);
accept("gzip", "compressed, as 8004scan labels it", ["Typical"], `data:application/json;enc=gzip;base64,${zipped}`);
accept("gzip-unlabelled", "compressed without the label", ["Wording"], `data:application/json;base64,${zipped}`, ["unlabelled-gzip"]);
accept("gzip-label-only", "labelled, and not compressed", ["Wording"], `data:application/json;enc=gzip;base64,${base64}`, ["plain-despite-gzip"]);
accept("gzip-no-labels", "compressed base64 without any label", ["Wording"], `data:application/json,${zipped}`, ["unlabelled-base64", "unlabelled-gzip"]);
accept("gzip-members", "two gzip members are one content (RFC 1952)", ["Boundary"], `data:application/json;enc=gzip;base64,${Buffer.concat([gzipSync(content.slice(0, 9)), gzipSync(content.slice(9))]).toString("base64")}`);
accept("inline", "JSON in the place of a URI", ["Wording"], json, ["inline-json"]);
accept("empty-data", "nothing: refused as a file, not as a URI", ["Empty"], "data:application/json,", [], new Uint8Array());
const exactly = new Uint8Array(1 << 20).fill(0x20);
file.ok("gzip-1-mib", "exactly 1 MiB after decompression", ["Boundary"], { uri: `data:application/json;enc=gzip;base64,${gzipSync(exactly, { level: 9 }).toString("base64")}` }, { length: 1 << 20, mappings: [] });
refuse("gzip-1-mib-and-1", "one byte more", ["Boundary"], `data:application/json;enc=gzip;base64,${gzipSync(new Uint8Array((1 << 20) + 1), { level: 9 }).toString("base64")}`, "size");
refuse("gzip-bomb", "16 MiB in 16 KiB", ["TooLong"], `data:application/json;enc=gzip;base64,${gzipSync(new Uint8Array(1 << 24), { level: 9 }).toString("base64")}`, "size");
refuse("gzip-truncated", "half a stream", ["Truncated"], `data:application/json;enc=gzip;base64,${Buffer.from(zipped, "base64").subarray(0, 60).toString("base64")}`, "encoding");
refuse("zstd", "another compression", ["Shape"], "data:application/json;enc=zstd;base64,KLUv/SAA", "encoding");
refuse("no-comma", "no content", ["Shape"], "data:application/json;base64", "encoding");
refuse("base64-letters", "letters that base64 has not", ["Shape"], "data:application/json;base64,!!!!", "encoding");
refuse("base64-length", "one character alone", ["Truncated"], "data:application/json;base64,eyJhI", "encoding");
refuse("https", "a URL has to be fetched", ["Shape"], "https://agent.example/agent.json", "not-inline");
refuse("ipfs", "a CID has to be fetched", ["Shape"], "ipfs://QmXnnyufdzAWL5CqZ2RnSNgPbvCc1ALT73s6epPrRnZ1Xy", "not-inline");
refuse("empty", "half of all registrations on Base", ["Empty"], "", "not-inline");
