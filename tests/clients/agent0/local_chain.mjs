// An anvil of our own with our contracts on it, for clients that others wrote.
import { spawn } from "node:child_process";
import fs from "node:fs";
import process from "node:process";
import { createPublicClient, createWalletClient, getAddress, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";

const OUT = new URL("../../../contracts/out/", import.meta.url);
const START_LIMIT_MS = 20_000;

/** Anvil's chain id. The client has no addresses of its own for it, so that ours are the ones that it uses. */
export const CHAIN_ID = foundry.id;

// Anvil's own accounts, whose keys everybody knows.
export const KEYS = {
  owner: "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
  wallet: "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
  client: "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
  stranger: "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6",
};
export const ADDRESSES = Object.fromEntries(
  Object.entries(KEYS).map(([name, key]) => [name, privateKeyToAccount(key).address]),
);

function artifact(name) {
  return JSON.parse(fs.readFileSync(new URL(`${name}.sol/${name}.json`, OUT), "utf8"));
}

/** Starts anvil on a free port and resolves to its URL and a function that ends it. */
async function startAnvil(chainId) {
  const history = ["--prune-history", "1000"]; // states in memory: a killed anvil leaves no file
  const anvil = spawn("anvil", ["--port", "0", "--chain-id", String(chainId), ...history], { stdio: ["ignore", "pipe", "inherit"] });
  const kill = () => anvil.kill("SIGKILL");
  process.once("exit", kill);
  const url = await new Promise((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error(`anvil did not listen within ${START_LIMIT_MS} ms`)), START_LIMIT_MS);
    let output = "";
    anvil.stdout.on("data", (chunk) => {
      output += chunk;
      const listening = /Listening on (127\.0\.0\.1:\d+)\n/.exec(output); // a chunk may end within the port
      if (!listening) return;
      clearTimeout(limit);
      resolve(`http://${listening[1]}`);
    });
    anvil.once("error", reject);
    anvil.once("exit", (code) => reject(new Error(`anvil ended with code ${code}`)));
  });
  const stop = () =>
    new Promise((resolve) => {
      anvil.removeAllListeners("exit");
      anvil.once("exit", resolve);
      kill();
    });
  return { url, stop };
}

/** A chain with nothing on it, and what is needed to deploy and to look at it without the client under test. */
export async function startChain(chainId = CHAIN_ID) {
  const { url, stop } = await startAnvil(chainId);
  const chain = { ...foundry, id: chainId };
  const reader = createPublicClient({ chain, transport: http(url), pollingInterval: 50 });
  const deployer = createWalletClient({ account: privateKeyToAccount(KEYS.stranger), chain, transport: http(url) });

  async function deploy(name, args = []) {
    const { abi, bytecode } = artifact(name);
    const hash = await deployer.deployContract({ abi, bytecode: bytecode.object, args });
    const { contractAddress, status } = await reader.waitForTransactionReceipt({ hash });
    if (status !== "success") throw new Error(`${name} was not deployed`);
    return at(getAddress(contractAddress), abi);
  }

  function at(address, abi) {
    const read = (functionName, args = []) => reader.readContract({ address, abi, functionName, args });
    return { address, abi, read };
  }

  /** Puts the code of a deployed contract at an address of choice. */
  async function place({ address, abi }, elsewhere) {
    const code = await reader.getCode({ address });
    await reader.request({ method: "anvil_setCode", params: [elsewhere, code] });
    return at(elsewhere, abi);
  }

  return { url, stop, chain, reader, deploy, place };
}
