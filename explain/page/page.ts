import { load, type FeedbackReport, type Finding, type ReputationReport, type State, type Trust } from "../../canonical/typescript/dist/explain.js";

const WORDS: Record<State, string> = {
  verified: "VERIFIED",
  claimed: "CLAIMED",
  "cannot-check": "CANNOT CHECK",
  refuted: "REFUTED",
};

/** Bytes of a file that is read: what the reader of bundles takes at most. */
const SIZE_MAX = 64 * 2 ** 20;

const explainer = load();

function find<E extends HTMLElement>(id: string): E {
  return document.getElementById(id) as E;
}

/** An element with children. Texts are texts, whatever they hold. */
function element(name: string, attributes: Record<string, string>, ...children: (Node | string)[]): HTMLElement {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Text of strangers: it cannot turn the direction of what stands beside it. */
const isolated = (text: string) => element("bdi", {}, text);

const stateCell = (state: State, name = "td") => element(name, { class: `state ${state}` }, WORDS[state]);

function lines(id: string): string[] {
  const all = find<HTMLTextAreaElement>(id).value.split("\n");
  return all.map((line) => line.trim()).filter((line) => line !== "");
}

function blocks(): Record<string, `0x${string}`> {
  const pairs = lines("blocks").map((line) => {
    const [chain, hash, ...more] = line.split("=");
    if (!chain || !hash || more.length > 0) throw new Error(`block hash ${JSON.stringify(line)}: expected CHAIN=0x…`);
    return [chain.trim(), hash.trim() as `0x${string}`] as const;
  });
  return Object.fromEntries(pairs);
}

async function read(file: File): Promise<string> {
  if (file.size > SIZE_MAX) throw new Error(`${file.name} has ${file.size} bytes; the limit is ${SIZE_MAX}`);
  return file.text();
}

async function trust(): Promise<Trust> {
  const books = [...(find<HTMLInputElement>("books").files ?? [])];
  return { blocks: blocks(), registries: lines("registries"), addressBooks: await Promise.all(books.map(read)) };
}

function row({ state, step, detail, evidence }: Finding): HTMLElement {
  const facts = evidence.map(({ name, value }) => element("li", {}, `${name}: `, isolated(value)));
  const why = element("td", {}, isolated(detail));
  if (facts.length > 0) why.append(element("ul", { class: "evidence" }, ...facts));
  return element("tr", {}, stateCell(state), element("td", {}, step), why);
}

function feedback(report: Omit<FeedbackReport, "state">): Node[] {
  const names = ["State", "Step", "Why"].map((name) => element("th", { scope: "col" }, name));
  const absent = report.notApplicable.map(({ step, reason }) => element("li", {}, `without ${step}: ${reason}`));
  return [
    element(
      "table",
      {},
      element("thead", {}, element("tr", {}, ...names)),
      element("tbody", {}, ...report.findings.map(row)),
    ),
    element("ul", { class: "evidence" }, ...absent),
  ];
}

function restsOn(blocks: readonly string[]): HTMLElement {
  return element("ul", { class: "evidence" }, ...blocks.map((block) => element("li", {}, "rests on ", isolated(block))));
}

function verdict(state: State, of: string): HTMLElement {
  return element("h2", {}, stateCell(state, "span"), " ", isolated(of));
}

function reputation({ state, counted, report }: ReputationReport): Node[] {
  const { number, complete } = report;
  const said = number === null ? "No number: the sum is beyond what a registry holds." : `${number.count} feedbacks, average ${number.value} with ${number.decimals} decimals.`;
  const counts = Object.entries(counted).map(([word, count]) => `${count} ${word}`);
  const each = report.feedbacks.map((it) =>
    element("details", {}, element("summary", {}, stateCell(it.state, "span"), ` ${it.entry} `, isolated(it.feedback)), ...feedback(it.report)),
  );
  return [
    verdict(state, report.query),
    restsOn(report.restsOn),
    element("p", {}, said, " ", `Of these: ${counts.join(", ")}.`),
    element("p", {}, stateCell(complete.state, "span"), " complete ", isolated(complete.detail)),
    ...each,
  ];
}

function shown(report: FeedbackReport | ReputationReport): Node[] {
  if ("report" in report) return reputation(report);
  return [verdict(report.state, report.feedback), restsOn(report.restsOn), ...feedback(report)];
}

async function check(file: File): Promise<void> {
  const result = find("result");
  result.replaceChildren(element("p", {}, "Checking …"));
  try {
    const [{ explain }, bundle, trusted] = await Promise.all([explainer, read(file), trust()]);
    result.replaceChildren(...shown(explain(bundle, trusted)));
  } catch (fault) {
    result.replaceChildren(element("p", { class: "fault", role: "alert" }, isolated(fault instanceof Error ? fault.message : String(fault))));
  }
  result.focus();
}

function checkChosen(): void {
  const [file] = find<HTMLInputElement>("bundle").files ?? [];
  if (file) void check(file);
}

for (const id of ["bundle", "books", "blocks", "registries"]) find(id).addEventListener("change", checkChosen);
document.querySelector("form")?.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  find("drop").classList.add("over");
});
document.addEventListener("dragleave", () => find("drop").classList.remove("over"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  find("drop").classList.remove("over");
  const [file] = event.dataTransfer?.files ?? [];
  if (!file || !event.dataTransfer) return;
  find<HTMLInputElement>("bundle").files = event.dataTransfer.files; // so that a change of whom is trusted checks it again
  void check(file);
});
