// Buys with @x402/fetch. `client.mjs '{"urls":[…],"body":…,"evm":KEY,"solana":{"key":…,"rpc":…}}'`, keys in hex; a body that is not
// empty is sent by POST. Prints what each URL offered and answered.
import { createKeyPairSignerFromPrivateKeyBytes } from "@solana/kit";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import { privateKeyToAccount } from "viem/accounts";

const { urls, body: question, evm, solana } = JSON.parse(process.argv[2]);
// its own default is one dollar of a token that it knows
const client = x402Client.fromConfig({ schemes: [], spendControls: false });
client.register("eip155:*", new ExactEvmScheme(privateKeyToAccount(evm)));
const payer = await createKeyPairSignerFromPrivateKeyBytes(Buffer.from(solana.key, "hex"));
client.register("solana:*", new ExactSvmScheme(payer, { rpcUrl: solana.rpc }));

const bought = [];
for (const url of urls) {
  let required = null;
  const watched = async (...request) => {
    const response = await fetch(...request);
    required ??= response.headers.get("payment-required");
    return response;
  };
  const response = await wrapFetchWithPayment(watched, client)(url, question ? { method: "POST", body: question } : {});
  const body = Buffer.from(await response.arrayBuffer()).toString("base64");
  const settled = response.headers.get("payment-response");
  bought.push({ status: response.status, required, settled, body });
}
console.log(JSON.stringify(bought));
