// The flood with pg-boss, run by the Node.js of the peers' folder: a group a user, each with the limit.
//
// URL fill USER=COUNT …     the jobs, in this order
// URL work LIMIT MS         one job at a time until SIGTERM, then print [user, start, end] of each, as JSON

import { createRequire } from "node:module";
import { setTimeout as nap } from "node:timers/promises";

const { PgBoss } = await import(createRequire(`${process.cwd()}/`).resolve("pg-boss"));
const [url, command, ...given] = process.argv.slice(2);
const QUEUE = "flood";

const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false });
await boss.start();

if (command === "fill") {
  await boss.createQueue(QUEUE);
  for (const order of given) {
    const [user, count] = order.split("=");
    for (let number = 0; number < Number(count); number += 1) {
      await boss.send(QUEUE, { user }, { group: { id: user } }); // `insert` of many forgets the group
    }
  }
  await boss.stop();
} else {
  const [limit, milliseconds] = given.map(Number);
  const runs = [];
  // its shortest pause between two looks is half a second: a look takes as many jobs as that time needs, one after the other
  const options = { batchSize: 10, pollingIntervalSeconds: 0.5, groupConcurrency: limit };
  await boss.work(QUEUE, options, async (jobs) => {
    for (const job of jobs) {
      const began = Date.now() / 1000;
      await nap(milliseconds);
      runs.push([job.data.user, began, Date.now() / 1000]);
    }
  });
  process.once("SIGTERM", async () => {
    await boss.stop({ graceful: true, timeout: 5000 });
    process.stdout.write(`${JSON.stringify(runs)}\n`, () => process.exit(0));
  });
}
