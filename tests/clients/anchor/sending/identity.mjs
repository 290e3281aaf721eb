// An agent's registration, its transfer, and what its owner sets.
import assert from "node:assert/strict";
import { test } from "node:test";
import anchor from "@anchor-lang/core";
import * as spl from "@solana/spl-token";
import { URI, addresses, base58, hex, refused, sha256 } from "../registry_client.mjs";

const { BN, web3 } = anchor;
const { Keypair, PublicKey, SystemProgram } = web3;
const ZERO = PublicKey.default.toBase58();
const TOKEN_2022 = spl.TOKEN_2022_PROGRAM_ID;

const tokenAccount = (mint, owner) => spl.getAssociatedTokenAddressSync(mint, owner, false, TOKEN_2022);

/** What a wallet sends to pass an agent on: it finds the hook's accounts on chain. */
function transfer(registry, { mint, owner }, destination) {
  const source = tokenAccount(mint, owner.publicKey);
  const [from, transferred] = [owner.publicKey, [1n, 0]];
  return spl.createTransferCheckedWithTransferHookInstruction(
    ...[registry.connection, source, mint, destination, from],
    ...[...transferred, [], "confirmed", TOKEN_2022],
  );
}

function hook(registry, { mint, owner }, destination) {
  const source = tokenAccount(mint, owner.publicKey);
  return registry.program.methods.transferHook(new BN(1)).accounts({ source, mint, destination, authority: owner.publicKey });
}

/** The instructions that make a token account whose owner could be changed. */
async function ordinaryTokenAccount({ connection, feePayer }, account, mint, owner) {
  const space = spl.getAccountLenForMint(await spl.getMint(connection, mint, "confirmed", TOKEN_2022));
  const create = SystemProgram.createAccount({
    fromPubkey: feePayer.publicKey,
    newAccountPubkey: account,
    lamports: await connection.getMinimumBalanceForRentExemption(space),
    space,
    programId: TOKEN_2022,
  });
  return [create, spl.createInitializeAccount3Instruction(account, mint, owner, TOKEN_2022)];
}

export function testIdentity(registry) {
  testRegistration(registry);
  testTransfer(registry);
  testSettings(registry);
}

function testRegistration(registry) {
  test("registers an agent", async () => {
    const [owner, { nonce, mint }] = [Keypair.generate(), registry.newMint()];
    const { events, timestamp } = await registry.outcome(await registry.registration(owner, nonce).rpc());
    const [nftMint, me] = base58(mint, owner.publicKey);
    assert.deepEqual(events, [{ name: "agentRegistered", fields: { nftMint, owner: me, metadataUri: URI, timestamp } }]);
    const registered = {
      nftMint,
      owner: me,
      ownerVersion: "1",
      agentWallet: me,
      feedbackAuthority: ZERO,
      authSchemes: 2, // R10: the bounded message alone
      createdAt: timestamp,
      version: 1,
      walletSetAt: timestamp, // R13
      reserved: "00".repeat(56),
    };
    assert.deepEqual(await registry.identity(mint, ...Object.keys(registered)), registered);
    const held = tokenAccount(mint, owner.publicKey);
    assert.equal((await spl.getAccount(registry.connection, held, "confirmed", TOKEN_2022)).amount, 1n);
    await refused(registry.registration(owner, nonce), "AlreadyInitialized");
  });

  test("a registration costs its payer the rent, the fee payer the fee, and the owner nothing", async () => {
    const [owner, { nonce, mint }] = [Keypair.generate(), registry.newMint()];
    const payers = [registry.feePayer, registry.sponsor, owner].map(({ publicKey }) => publicKey);
    const balances = () => Promise.all(payers.map((payer) => registry.connection.getBalance(payer)));
    const before = await balances();
    const signature = await registry.registration(owner, nonce).rpc();
    const { meta } = await registry.connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
    const made = [addresses.agent(mint), mint, tokenAccount(mint, owner.publicKey), addresses.extraAccountMetas(mint)];
    const rents = await Promise.all(made.map((account) => registry.connection.getBalance(account)));
    const spent = (await balances()).map((balance, at) => before[at] - balance);
    assert.deepEqual(spent, [meta.fee, rents.reduce((sum, rent) => sum + rent), 0]);
  });

  test("refuses a registration with a long URI, another's record, or a mint that is not derived (R4)", async () => {
    const [owner, { nonce }] = [Keypair.generate(), registry.newMint()];
    await refused(registry.registration(owner, nonce, "u".repeat(201)), "LengthLimit"); // R17
    const elsewhere = { agent: addresses.agent(Keypair.generate().publicKey) };
    await refused(registry.registration(owner, nonce).accountsPartial(elsewhere), "AccountMismatch");
    const nftMint = addresses.mint(owner.publicKey, nonce); // of who does not pay
    await refused(registry.registration(owner, nonce).accountsPartial({ nftMint }), "AccountMismatch");
  });
}

function testTransfer(registry) {
  test("transfers an agent, with the hook's accounts as the description has them", async () => {
    const [agent, buyer] = [await registry.registered(), Keypair.generate().publicKey];
    const destination = tokenAccount(agent.mint, buyer);
    const { publicKey: payer } = registry.feePayer;
    const open = spl.createAssociatedTokenAccountInstruction(payer, destination, buyer, agent.mint, TOKEN_2022);
    const { keys } = await hook(registry, agent, destination).instruction();
    const described = new Set(base58(...keys.map(({ pubkey }) => pubkey)));

    const pass = await transfer(registry, agent, destination);
    assert.deepEqual(new Set(base58(...pass.keys.map(({ pubkey }) => pubkey))), described);
    const { events, timestamp } = await registry.outcome(await registry.send([open, pass], [agent.owner]));
    const [nftMint, from, to] = base58(agent.mint, agent.owner.publicKey, buyer);
    assert.deepEqual(events, [{ name: "agentTransferred", fields: { nftMint, from, to, timestamp } }]);
    const transferred = { owner: to, ownerVersion: "2", agentWallet: ZERO, updatedAt: timestamp };
    assert.deepEqual(await registry.identity(agent.mint, ...Object.keys(transferred)), transferred);

    // R7: what the seller signs counts no more
    await refused(registry.feedback(agent, Keypair.generate()), "AuthWrongSigner");
  });

  test("refuses a transfer to an account that could change hands without one, and the hook outside a transfer (R4)", async () => {
    const [agent, account] = [await registry.registered(), Keypair.generate()];
    const buyer = Keypair.generate().publicKey;
    await registry.send(await ordinaryTokenAccount(registry, account.publicKey, agent.mint, buyer), [account]);
    const pass = await transfer(registry, agent, account.publicKey);
    await registry.refusedInside([pass], [agent.owner], "TransferRefused");
    await refused(hook(registry, agent, account.publicKey), "NotInTransfer");
    assert.deepEqual(await registry.identity(agent.mint, "owner"), { owner: agent.owner.publicKey.toBase58() });
  });
}

function testSettings(registry) {
  test("the new wallet signs for itself (R3)", async () => {
    const { program } = registry;
    const [{ owner, mint }, wallet] = [await registry.registered(), Keypair.generate()];
    const mine = { owner: owner.publicKey, nftMint: mint };
    const set = (newWallet) => program.methods.setAgentWallet().accounts({ ...mine, newWallet }).signers([owner]);
    await set(wallet.publicKey).signers([wallet]).rpc();
    assert.deepEqual(await registry.identity(mint, "agentWallet"), { agentWallet: wallet.publicKey.toBase58() });
    // the fee payer signs anyway, but not for this
    await refused(set(registry.feePayer.publicKey), "WalletConsentMissing");
    await program.methods.unsetAgentWallet().accounts(mine).signers([owner]).rpc();
    assert.deepEqual(await registry.identity(mint, "agentWallet"), { agentWallet: ZERO });
  });

  test("the new feedback authority signs for itself, the owner's own key and the default one need not (R7)", async () => {
    const [{ owner, mint }, authority] = [await registry.registered(), Keypair.generate()];
    const set = (newAuthority) =>
      registry.program.methods
        .setFeedbackAuthority()
        .accounts({ owner: owner.publicKey, nftMint: mint, newAuthority })
        .signers([owner]);
    // the description does not ask for the signature, because the default key cannot give it
    const consents = ({ publicKey }) => [{ pubkey: publicKey, isSigner: true, isWritable: false }];
    const named = (key) => set(key.publicKey).remainingAccounts(consents(key)).signers([key]);
    const holds = async (feedbackAuthority) =>
      assert.deepEqual(await registry.identity(mint, "feedbackAuthority"), { feedbackAuthority: feedbackAuthority.toBase58() });

    await refused(set(authority.publicKey), "AuthorityConsentMissing");
    // the fee payer signs anyway, but not for this
    await refused(set(registry.feePayer.publicKey), "AuthorityConsentMissing");
    await holds(PublicKey.default);
    await named(authority).rpc();
    await holds(authority.publicKey);
    await set(owner.publicKey).rpc();
    await holds(owner.publicKey);
    await set(PublicKey.default).rpc();
    await holds(PublicKey.default);
  });

  test("the owner sets authority, schemes and URI; nobody else does", async () => {
    const { methods } = registry.program;
    const { owner, mint } = await registry.registered();
    const by = (who, call) => call.accountsPartial({ owner: who.publicKey, nftMint: mint }).signers([who]);
    const stranger = Keypair.generate();
    const settings = [
      () => methods.setFeedbackAuthority().accountsPartial({ newAuthority: owner.publicKey }),
      () => methods.setAuthSchemes(3),
      () => registry.sponsored(methods.setAgentUri(`${URI}?2`)),
    ];
    for (const setting of settings) {
      await refused(by(stranger, setting()), "NotAuthorized");
      await by(owner, setting()).rpc();
    }
    const set = { feedbackAuthority: owner.publicKey.toBase58(), authSchemes: 3 };
    assert.deepEqual(await registry.identity(mint, ...Object.keys(set)), set);
    const metadata = await spl.getTokenMetadata(registry.connection, mint, "confirmed", TOKEN_2022);
    assert.equal(metadata.uri, `${URI}?2`);
    await refused(by(owner, methods.setAuthSchemes(4)), "AuthSchemeUnknown"); // R10
  });

  test("the owner sets metadata, at an address that the caller derives", async () => {
    const { owner, mint } = await registry.registered();
    const metadataEntry = addresses.metadata(mint, sha256("model"));
    const set = (key) =>
      registry
        .sponsored(registry.program.methods.setMetadata(key, Buffer.from("gpt")))
        .accounts({ owner: owner.publicKey, nftMint: mint, metadataEntry })
        .signers([owner]);
    await set("model").rpc();
    const entry = { nftMint: mint.toBase58(), key: "model", value: hex(Buffer.from("gpt")), version: 1 };
    assert.deepEqual(await registry.read("metadataEntry", metadataEntry, ...Object.keys(entry)), entry);
    await refused(set("agentWallet"), "ReservedKey"); // R2
    await refused(set("other"), "AccountMismatch");
  });
}
