/** Serves on a free port of 127.0.0.1, prints the URL, and ends when standard input does: with the process that started it. */
export function listen(app) {
  const server = app.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
  process.stdin.resume().on("end", () => process.exit(0));
}
