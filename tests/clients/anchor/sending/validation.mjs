// A validation: its request and its response, at addresses that the caller derives (R20).
import assert from "node:assert/strict";
import { test } from "node:test";
import anchor from "@anchor-lang/core";
import { addresses, base58, hex, refused, sha256 } from "../registry_client.mjs";

const { Keypair } = anchor.web3;

export function testValidation(registry) {
  test("requests a validation and responds to it", async () => {
    const { methods } = registry.program;
    const [{ owner, mint }, validator, hash] = [await registry.registered(), Keypair.generate(), sha256("request")];
    const at = (kind) => addresses.validation(kind, mint, validator.publicKey, hash);
    const places = { nftMint: mint, validationRequest: at("val_request") };
    const answered = { ...places, validationResponse: at("val_response") };
    const tag = [...sha256("zkml")];
    const request = (who) =>
      registry
        .sponsored(methods.validationRequest(validator.publicKey, [...hash], tag, "ipfs://request"))
        .accounts({ owner: who.publicKey, ...places })
        .signers([who]);
    const respond = (who, { wanted = hash, score = 97 } = {}) =>
      registry
        .sponsored(methods.validationResponse([...wanted], score, tag, "ipfs://evidence", [...sha256("evidence")]))
        .accounts({ validator: who.publicKey, ...answered })
        .signers([who]);

    await refused(respond(validator), "RequestNotFound");
    await refused(request(validator), "NotAuthorized");
    await request(owner).rpc();
    const [nftMint, me] = base58(mint, validator.publicKey);
    const terms = { nftMint, validator: me, requestHash: hex(hash), tag: hex(tag) };
    const pending = { ...terms, responded: false };
    assert.deepEqual(await registry.read("validationRequest", places.validationRequest, ...Object.keys(pending)), pending);
    await refused(request(owner), "RequestExists");

    const samePrefix = Buffer.concat([hash.subarray(0, 8), sha256("other").subarray(8)]);
    await refused(respond(validator, { wanted: samePrefix }), "RequestNotFound");
    await refused(respond(validator, { wanted: sha256("other") }), "AccountMismatch");
    await refused(respond(validator, { score: 101 }), "ScoreOutOfRange");
    await refused(respond(owner), "NotValidator");
    const { events, timestamp } = await registry.outcome(await respond(validator).rpc());
    const answer = { ...terms, score: 97, evidenceHash: hex(sha256("evidence")) };
    assert.deepEqual(events, [{ name: "validationResponded", fields: { ...answer, evidenceUri: "ipfs://evidence", timestamp } }]);
    const stored = { ...answer, createdAt: timestamp, responseCount: "1", version: 1 };
    assert.deepEqual(await registry.read("validationResponse", answered.validationResponse, ...Object.keys(stored)), stored);
    assert.deepEqual(await registry.read("validationRequest", places.validationRequest, "responded"), { responded: true });
    assert.deepEqual(await registry.identity(mint, "validationCount"), { validationCount: "1" });
    assert.equal(await registry.connection.getBalance(validator.publicKey), 0);
  });
}
