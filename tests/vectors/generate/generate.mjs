// Writes every vector file. `--out <folder>` writes elsewhere, to compare with what is committed.
import { fileURLToPath } from "node:url";
import { writeFiles } from "./vector_file.mjs";
import "./hashes.mjs";
import "./json.mjs";
import "./authorization.mjs";
import "./names.mjs";
import "./tags.mjs";
import "./summary.mjs";
import "./signatures.mjs";
import "./pda.mjs";
import "./scores.mjs";
import "./feedback_ids.mjs";
import "./files/feedback.mjs";
import "./files/registration.mjs";
import "./files/extension.mjs";
import "./files/uri.mjs";
import "./files/hashes.mjs";
import "./x402/purchase.mjs";
import "./x402/transfer_authorization.mjs";

const flag = process.argv.indexOf("--out");
const folder = flag < 0 ? fileURLToPath(new URL("..", import.meta.url)) : process.argv[flag + 1];
writeFiles(folder);
