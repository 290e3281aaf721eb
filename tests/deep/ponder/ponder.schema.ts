// A row for each feedback, and counts of each agent: a part of what the index keeps.
import { onchainTable, primaryKey } from "ponder";

export const feedback = onchainTable(
  "feedback",
  (t) => ({
    agent: t.bigint().notNull(),
    client: t.hex().notNull(),
    index: t.bigint().notNull(),
    value: t.bigint().notNull(),
    decimals: t.integer().notNull(),
    tag1: t.text().notNull(),
    tag2: t.text().notNull(),
    endpoint: t.text().notNull(),
    uri: t.text().notNull(),
    hash: t.hex().notNull(),
    at: t.bigint().notNull(),
  }),
  (table) => ({ key: primaryKey({ columns: [table.agent, table.client, table.index] }) }),
);

export const agent = onchainTable("agent", (t) => ({ id: t.bigint().primaryKey(), count: t.integer().notNull(), sum: t.bigint().notNull() }));
