// Verifies answers with @noble: a JSON array on standard input, each with `target`, `request` and `response` (base64),
// `settled` (the PAYMENT-RESPONSE header) and `publicKey`. Prints how many signatures held.
import { verify } from "./interaction.mjs";

let text = "";
for await (const chunk of process.stdin) text += chunk;
let signatures = 0;
for (const { target, request, response, settled, publicKey } of JSON.parse(text)) {
  const { network, transaction, extensions } = JSON.parse(Buffer.from(settled, "base64").toString());
  const [requestBody, responseBody] = [request, response].map((body) => Uint8Array.from(Buffer.from(body, "base64")));
  for (const [key, signed] of Object.entries(extensions)) {
    verify(key, signed, { target, requestBody, responseBody, network, transaction, publicKey });
    signatures += 1;
  }
}
console.log(signatures);
