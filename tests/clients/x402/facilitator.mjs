// x402's own facilitator, for EVM and Solana, over HTTP. `facilitator.mjs '{"evm":{…},"solana":{…}}'`, each with `network`,
// `rpc` and `key` in hex. It prints its URL, and ends when its standard input does.
import express from "express";
import { createKeyPairSignerFromPrivateKeyBytes } from "@solana/kit";
import { x402Facilitator } from "@x402/core/facilitator";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { toFacilitatorSvmSigner } from "@x402/svm";
import { ExactSvmScheme } from "@x402/svm/exact/facilitator";
import { createWalletClient, http, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { baseSepolia } from "viem/chains";
import { listen } from "./service.mjs";

const { evm, solana } = JSON.parse(process.argv[2]);
const facilitator = new x402Facilitator();
if (evm) {
  const account = privateKeyToAccount(evm.key);
  const wallet = createWalletClient({ account, chain: baseSepolia, transport: http(evm.rpc), pollingInterval: 50 }).extend(publicActions);
  const signer = toFacilitatorEvmSigner({
    address: account.address,
    readContract: (args) => wallet.readContract({ ...args, args: args.args ?? [] }),
    verifyTypedData: (args) => wallet.verifyTypedData(args),
    writeContract: (args) => wallet.writeContract({ ...args, args: args.args ?? [] }),
    sendTransaction: (args) => wallet.sendTransaction(args),
    waitForTransactionReceipt: (args) => wallet.waitForTransactionReceipt(args),
    getCode: (args) => wallet.getCode(args),
  });
  facilitator.register(evm.network, new ExactEvmScheme(signer));
}
if (solana) {
  const key = await createKeyPairSignerFromPrivateKeyBytes(Buffer.from(solana.key, "hex"));
  facilitator.register(solana.network, new ExactSvmScheme(toFacilitatorSvmSigner(key, { defaultRpcUrl: solana.rpc })));
}

const app = express();
app.use(express.json({ limit: "64kb" }));
app.get("/supported", (_, response) => response.json(facilitator.getSupported()));
for (const step of ["verify", "settle"]) {
  app.post(`/${step}`, async ({ body }, response) => response.json(await facilitator[step](body.paymentPayload, body.paymentRequirements)));
}
listen(app);
