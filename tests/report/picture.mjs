// Writes a PNG of the top of an HTML report: node picture.mjs CHROMIUM REPORT PICTURE
import fs from "node:fs";
import { pathToFileURL } from "node:url";
import { Chromium } from "./chromium.mjs";

const [command, report, picture] = process.argv.slice(2);
const SIZE = { width: 1000, height: 760 };

const chromium = await Chromium.start(command);
try {
  await chromium.ask("Emulation.setDeviceMetricsOverride", { ...SIZE, deviceScaleFactor: 1, mobile: false });
  await chromium.ask("Emulation.setScrollbarsHidden", { hidden: true });
  await chromium.load(pathToFileURL(report).href);
  const { data } = await chromium.ask("Page.captureScreenshot", { format: "png", optimizeForSpeed: false });
  fs.writeFileSync(picture, Buffer.from(data, "base64"));
} finally {
  await chromium.end();
}
