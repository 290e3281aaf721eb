// The registry's authority: set once, by the program's upgrade authority, and passed on in two steps.
import assert from "node:assert/strict";
import { test } from "node:test";
import anchor from "@anchor-lang/core";
import { CHAIN } from "../local_cluster.mjs";
import { addresses, refused } from "../registry_client.mjs";

const { Keypair } = anchor.web3;

export function testRegistryAuthority(registry) {
  test("the deployed registry is not initialized again, by whomever", async () => {
    const initialize = (who) =>
      registry
        .sponsored(registry.program.methods.initialize(CHAIN))
        .accounts({ upgradeAuthority: who.publicKey })
        .signers([who]);
    await refused(initialize(registry.deployer), "AlreadyInitialized");
    await refused(initialize(Keypair.generate()), "NotUpgradeAuthority");
  });

  test("proposes a registry authority, who accepts", async () => {
    const { methods } = registry.program;
    const successor = Keypair.generate();
    const by = (who, call) => call.accounts({ authority: who.publicKey }).signers([who]);
    await refused(by(successor, methods.proposeRegistryAuthority(successor.publicKey)), "NotAuthorized");
    await by(registry.deployer, methods.proposeRegistryAuthority(successor.publicKey)).rpc();
    await refused(by(registry.deployer, methods.acceptRegistryAuthority()), "NotAuthorized");
    await by(successor, methods.acceptRegistryAuthority()).rpc();
    const { authority } = await registry.read("registry", addresses.registry, "authority");
    assert.equal(authority, successor.publicKey.toBase58());
  });
}
