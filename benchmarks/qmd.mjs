// qmd's BM25 behind JSON lines, for benchmarks/search_speed.py:  node qmd.mjs FOLDER_WITH_NODE_MODULES DATABASE
// {"add": [[number, title, body], …]} loads texts as documents; {"search": text} searches. Both are answered with CPU ms.
import { pathToFileURL } from "node:url";
import { createInterface } from "node:readline";
import { join } from "node:path";

const [folder, dbPath] = process.argv.slice(2);
const entry = join(folder, "node_modules", "@tobilu", "qmd", "dist", "index.js");
const { createStore } = await import(pathToFileURL(entry).href);
const store = await createStore({ dbPath, config: { collections: {} } });
const { internal } = store;
const then = "2026-03-02T00:00:00Z";

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  const before = process.cpuUsage();
  if (asked.add) {
    internal.db.exec("BEGIN");
    for (const [number, title, body] of asked.add) {
      internal.insertContent(`${number}`, body, then);
      internal.insertDocument("texts", `${number}.md`, title, `${number}`, then, then);
    }
    internal.db.exec("COMMIT");
  } else {
    await store.searchLex(asked.search, { limit: 10 });
  }
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify({ cpu: (user + system) / 1000 }));
}
