// Makes an automation that sends a message every night at two, runs it once now, and prints how that went.
//   node examples/nightly-automation.mjs ws://127.0.0.1:<port> "Run the tests, and say what fails."
// The token of the host, if it wants one, is read from ATRIUM_TOKEN.
import { randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { connect } from '@atrium/client';

const [url, text = 'Hello!'] = process.argv.slice(2);
if (!url) throw new Error('usage: node nightly-automation.mjs <url> [text]');

const client = await connect({ url, token: process.env.ATRIUM_TOKEN });
const automations = await client.subscribe('ahp-automations://');

const resource = `ahp-automation:/${randomUUID()}`;
const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
await automations.dispatch({
  type: 'automation/createRequested',
  resource,
  definition: {
    title: 'Nightly',
    message: { text, origin: { kind: 'automation' } },
    session: { workingDirectories: [pathToFileURL(process.cwd()).href] },
    enabled: true,
    triggers: [{ kind: 'schedule', id: 'night', schedule: { expression: '0 2 * * *', timeZone } }],
  },
});
for await (const { entries } of automations) {
  const made = entries.find((entry) => entry.resource === resource);
  if (made) console.log(`${made.definition.title} runs next at ${made.nextRunAt}`);
  if (made) break;
}

// The same request under the same id never starts a second run, so it can be repeated after an error.
const { resource: run } = await client.request('runAutomation', {
  channel: 'ahp-automations://',
  automation: resource,
  requestId: randomUUID(),
});
for await (const { lifecycle, primarySession } of await client.subscribe(run, { kind: 'automationRun' })) {
  console.log(lifecycle.status, primarySession ?? '', lifecycle.error?.message ?? '');
  if (!['pending', 'running'].includes(lifecycle.status)) break;
}
client.close();
