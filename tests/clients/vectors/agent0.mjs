// agent0-sdk for TypeScript: feedback ids, and signatures with Ethereum's v.
import { formatFeedbackId, normalizeEcdsaSignature, parseFeedbackId } from "agent0-sdk";

import { Unsupported, hex, serve } from "./protocol.mjs";

function feedbackId({ text, base, target }) {
  const { agentId, clientAddress, feedbackIndex } = parseFeedbackId(text);
  const index = feedbackIndex + 1 - Number(base); // the contract's, from 1
  return {
    agent_id: agentId,
    client: clientAddress,
    index: String(index),
    text: formatFeedbackId(agentId, clientAddress, index - 1 + Number(target)),
  };
}

function ethereumV({ direction, signature }) {
  if (direction !== "to") throw new Unsupported();
  return normalizeEcdsaSignature(hex(signature));
}

await serve({ feedback_id: feedbackId, ethereum_v: ethereumV });
