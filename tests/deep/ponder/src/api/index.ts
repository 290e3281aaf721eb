// How many rows there are.
import { Hono } from "hono";
import { count } from "ponder";
import { db } from "ponder:api";
import { feedback } from "ponder:schema";

const app = new Hono();
app.get("/count", async (context) => context.json((await db.select({ feedbacks: count() }).from(feedback))[0]!));

export default app;
