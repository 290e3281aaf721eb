// Drives a Chromium through its debugging pipe: no port, no package. https://chromedevtools.github.io/devtools-protocol/
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { remove } from "../cleanup.mjs";

const FLAGS = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
const ANSWER_MS = 300_000; // a browser that hangs; a busy machine is slow

/** A started browser with one page. */
export class Chromium {
  #process;
  #profile = fs.mkdtempSync(path.join(os.tmpdir(), "concord-chromium-"));
  #waiting = new Map();
  #errors = "";
  #count = 0;
  #session;

  static async start(command) {
    const chromium = new Chromium(command);
    const { targetId } = await chromium.#send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await chromium.#send("Target.attachToTarget", { targetId, flatten: true });
    chromium.#session = sessionId;
    await chromium.ask("Page.enable");
    return chromium;
  }

  constructor(command) {
    const flags = [...FLAGS, "--remote-debugging-pipe", `--user-data-dir=${this.#profile}`];
    this.#process = spawn(command, flags, { stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"] });
    this.#process.stderr.on("data", (piece) => (this.#errors += piece));
    this.#process.once("exit", (code) => this.#failAll(`${command} ended with ${code}: ${this.#errors}`));
    let rest = "";
    this.#process.stdio[4].setEncoding("utf8").on("data", (piece) => {
      const messages = (rest + piece).split("\0");
      rest = messages.pop();
      for (const message of messages) this.#receive(JSON.parse(message));
    });
  }

  /** The result of a method, asked of the page. */
  ask(method, params = {}) {
    return this.#send(method, params, this.#session);
  }

  /** The value of an expression in the page. */
  async evaluate(expression) {
    const { result, exceptionDetails } = await this.ask("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Loads a page, and waits for its own event. A page's other fragment loads nothing: load about:blank between the two. */
  async load(url) {
    const loaded = this.#next("Page.loadEventFired");
    await this.ask("Page.navigate", { url });
    await loaded;
  }

  /** Resolves when the page that something else begins to load is loaded. */
  loaded() {
    return this.#next("Page.loadEventFired");
  }

  async press(key, code, text) {
    const event = { key, code: key, windowsVirtualKeyCode: code, text };
    await this.ask("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", ...event });
    await this.ask("Input.dispatchKeyEvent", { type: "keyUp", ...event });
  }

  async end() {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill();
    await ended;
    remove(this.#profile);
  }

  #send(method, params, sessionId) {
    const id = ++this.#count;
    this.#process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return this.#wait(id, method);
  }

  #next(event) {
    return this.#wait(event, event);
  }

  #wait(key, name) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer to ${name}: ${this.#errors}`)), ANSWER_MS);
      this.#waiting.set(key, { resolve, reject, timer });
    });
  }

  #receive({ id, method, params, result, error }) {
    const waiting = this.#waiting.get(id ?? method);
    if (!waiting) return;
    this.#waiting.delete(id ?? method);
    clearTimeout(waiting.timer);
    if (error) waiting.reject(new Error(error.message));
    else waiting.resolve(result ?? params);
  }

  #failAll(message) {
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Error(message));
    }
    this.#waiting.clear();
  }
}
