// Anchor's TypeScript client, given only the committed interface description, drives the deployed program. It derives every
// address that the description gives seeds for and asks for the signatures that it flags: a flaw in either fails a call here.
// The calls are in sending/, by subject.
import assert from "node:assert/strict";
import fs from "node:fs";
import { after, before, test } from "node:test";
import anchor from "@anchor-lang/core";
import { feedbackAuthMessage, keccak256, paymentProofMessage } from "./canonical_encoding.mjs";
import { IDL } from "./decoding.mjs";
import { CHAIN } from "./local_cluster.mjs";
import { RegistryClient, addresses, hex } from "./registry_client.mjs";
import { testFeedback } from "./sending/feedback.mjs";
import { testIdentity } from "./sending/identity.mjs";
import { testOpenFeedback } from "./sending/open_feedback.mjs";
import { testRegistryAuthority } from "./sending/registry_authority.mjs";
import { testPaymentProofs } from "./sending/payment_proof.mjs";
import { testValidation } from "./sending/validation.mjs";

const { PublicKey } = anchor.web3;
const registry = new RegistryClient();

before(() => registry.start());
after(() => registry.stop());

function vectors(name, isWanted) {
  const file = new URL(`../../vectors/${name}.json`, import.meta.url);
  const chosen = JSON.parse(fs.readFileSync(file, "utf8")).vectors.filter((vector) => vector.ok && isWanted(vector));
  assert.ok(chosen.length > 0, name);
  return chosen;
}

test("the messages that these tests sign are the vectors' (R9, R13)", () => {
  const key = (text) => new PublicKey(text);
  for (const it of vectors("feedback_auth", ({ scheme }) => scheme === "svm")) {
    const message = feedbackAuthMessage({
      agent: key(it.agent_id),
      client: key(it.client_address),
      indexLimit: it.index_limit,
      expiry: it.expiry,
      chain: it.chain_id,
      program: key(it.identity_registry),
      signer: key(it.signer_address),
    });
    assert.equal(`0x${hex(message)}`, it.ok.message, it.id);
  }
  for (const it of vectors("payment_proof", ({ task_ref }) => task_ref.startsWith("solana:"))) {
    const message = paymentProofMessage({
      agent: key(it.agent_id),
      payer: key(it.payer),
      payee: key(it.payee),
      token: key(it.token),
      amount: it.amount,
      taskRefHash: keccak256(it.task_ref),
      paidAt: it.paid_at,
      expiry: it.expiry,
      chain: it.chain_id,
      program: key(it.program_id),
      facilitator: key(it.facilitator),
    });
    assert.equal(`0x${hex(message)}`, it.ok.message, it.id);
  }
});

test("the description names the id that was deployed", async () => {
  assert.equal(IDL.address, registry.deployedId.toBase58());
  assert.ok(registry.program.programId.equals(registry.deployedId));
  assert.ok((await registry.connection.getAccountInfo(registry.deployedId)).executable);
  const initialized = {
    chain: CHAIN,
    chainHash: hex(keccak256(CHAIN)),
    authority: registry.deployer.publicKey.toBase58(),
    paymentTokens: "",
    facilitators: "",
  };
  assert.deepEqual(await registry.read("registry", addresses.registry, ...Object.keys(initialized)), initialized);
});

test("a caller names the parties; only seeds that are part of an argument, or its hash, are left to them", () => {
  const isNamed = ({ signer, address, pda }) => !signer && !address && !pda;
  const named = IDL.instructions.map(({ name, accounts }) => [name, accounts.filter(isNamed).map(({ name }) => name)]);
  const others = named.filter(([, names]) => names.length > 0 && names.join() !== "nft_mint");
  assert.deepEqual(Object.fromEntries(others), {
    attach_payment_proof: ["reviewer", "nft_mint"],
    set_feedback_authority: ["nft_mint", "new_authority"],
    set_metadata: ["nft_mint", "metadata_entry"],
    transfer_hook: ["source", "mint", "destination", "authority"],
    validation_request: ["nft_mint", "validation_request"],
    validation_response: ["nft_mint", "validation_request", "validation_response"],
  });
});

testIdentity(registry);
testFeedback(registry);
testOpenFeedback(registry);
testValidation(registry);
testPaymentProofs(registry);
testRegistryAuthority(registry);

test("every instruction has landed", () => {
  const left = registry.program.idl.instructions.map(({ name }) => name).filter((name) => !registry.provider.landed.has(name));
  // what `concord deploy` sent, what is simulated, and what Token-2022 calls
  assert.deepEqual(left, ["initialize", "openSummary", "openSummaryPart", "transferHook"]);
});
