// Watches a CI status file: tells the session when it changes, lends a tool to ask, and holds `git push` while CI fails.
// Build once (`npm run build`), then let the host start it: put this into the `atrium.json` of a project:
//   { "providers": { "ci-watcher": { "command": "node", "args": ["/path/to/examples/providers/ci-watcher.mjs"] } } }
// Your CI (or you) writes `ci-status.json` in the project: { "state": "failing", "detail": "3 tests fail on main" }
// CI_STATUS_FILE names another file.
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { allow, connectProvider, deny } from '@atrium/provider';

const file = path.resolve(process.env.CI_STATUS_FILE ?? 'ci-status.json');

/** Without a file nobody knows, and nobody is held up. */
async function status() {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return { state: 'unknown', detail: `there is no readable ${path.basename(file)}` };
  }
}

// Looked at before anybody can hear of it: what changes from now on is news.
let last = (await status()).state;

const provider = connectProvider({
  name: 'ci-watcher',
  tools: {
    ci_status: {
      description: 'Tells whether CI passes, and what is wrong if it does not.',
      run: async () => status(),
    },
  },
  gates: [
    {
      match: { tool: 'shell', args: 'git push' },
      check: async () => {
        const { state, detail } = await status();
        return state === 'failing' ? deny(`CI is failing: ${detail}. Fix that first.`) : allow();
      },
    },
  ],
  onState: (state) => console.log(state.at, state.at === 'closed' ? (state.error?.message ?? '') : ''),
});

watch(path.dirname(file), async (_event, name) => {
  if (name !== path.basename(file)) return;
  const { state, detail } = await status();
  if (state === last) return;
  last = state;
  provider.push.surface(`CI is ${state}: ${detail}`, { stream: 'ci', metadata: { state } });
});
