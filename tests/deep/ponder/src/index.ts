import { ponder } from "ponder:registry";
import { agent, feedback } from "ponder:schema";

ponder.on("Reputation:NewFeedback", async ({ event, context }) => {
  const { agentId, clientAddress, feedbackIndex, value, valueDecimals, tag1, tag2, endpoint, feedbackURI, feedbackHash } = event.args;
  await context.db.insert(feedback).values({
    agent: agentId,
    client: clientAddress,
    index: feedbackIndex,
    value,
    decimals: valueDecimals,
    tag1,
    tag2,
    endpoint,
    uri: feedbackURI,
    hash: feedbackHash,
    at: event.block.timestamp,
  });
  await context.db
    .insert(agent)
    .values({ id: agentId, count: 1, sum: value })
    .onConflictDoUpdate((row) => ({ count: row.count + 1, sum: row.sum + value }));
});
