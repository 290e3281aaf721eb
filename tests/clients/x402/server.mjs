// A paid service on @x402/express that signs its answers, with a small extension of ours. `server.mjs '{…}'`: `facilitator`
// (a URL), `offers` (route, scheme, network, payTo, price), and by namespace `agents` (agent, and signer: algorithm, secret in
// hex).
import express from "express";
import { HTTPFacilitatorClient } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware, x402ResourceServer } from "@x402/express";
import { ExactSvmScheme } from "@x402/svm/exact/server";
import { dataHash, sign } from "./interaction.mjs";
import { listen } from "./service.mjs";

const { facilitator, offers, agents } = JSON.parse(process.argv[2]);
const info = { version: "1.0.0", registrations: Object.values(agents).map(({ agent }) => agent) };
const ANSWER = '{"tempC":11}';

/** Signs request and response when the payment has settled. */
const reputation = (key) => ({
  key,
  async enrichSettlementResponse(_, { result, transportContext: { request, responseBody } }) {
    if (!result.success || !result.transaction) return undefined; // R34
    const { agent, signer } = agents[result.network.split(":")[0]];
    const url = new URL(request.adapter.getUrl());
    const body = request.adapter.getBody(); // bytes if there is one, see express.raw below
    const data = dataHash(`${url.pathname}${url.search}`, Buffer.isBuffer(body) ? body : Buffer.alloc(0), responseBody);
    return sign(key, { agent, taskRef: `${result.network}:${result.transaction}`, data }, signer);
  },
});

const server = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitator }))
  .register("eip155:84532", new ExactEvmScheme())
  .register("solana:*", new ExactSvmScheme());
const keys = ["8004-reputation", "reputation"];
for (const key of keys) server.registerExtension(reputation(key));
const extensions = Object.fromEntries(keys.map((key) => [key, { info, schema: {} }]));
const priced = (method) => ({ route, ...accepts }) => [`${method} ${route}`, { accepts, extensions, mimeType: "application/json" }];
const routes = Object.fromEntries([...offers.map(priced("GET")), ...offers.map(priced("POST"))]);

const app = express();
app.use(express.raw({ type: () => true })); // hashes are made of bytes
app.use(paymentMiddleware(routes, server));
for (const { route } of offers) {
  app.get(route, (_, response) => response.type("json").send(ANSWER));
  app.post(route, ({ body }, response) => response.type("json").send(body.toString()));
}
listen(app);
