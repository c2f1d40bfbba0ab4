import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { ClaudeSettings } from '../../../agents/src/claude/backend.js';
import type { ClaudeQuery, QueryOptions } from '../../../agents/src/claude/sdk.js';
import { ClaudeTurn } from '../../../agents/src/claude/turn.js';
import { FakeTurn } from '../support/fake-turn.js';
import { tempFolder } from '../support/temp-folder.js';

it('[DAY-084] Claude gets the instructions of the project through the prompt: it is run without settings of the folder', async () => {
  const root = await tempFolder();
  const folder = path.join(root, 'packages', 'one');
  await mkdir(path.join(root, '.git'));
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(root, 'AGENTS.md'), 'ROOT RULES');
  await writeFile(path.join(folder, 'CLAUDE.md'), 'PACKAGE RULES');
  class Turn extends FakeTurn {
    override renderPrompt(_pristine?: ReadonlyMap<string, string>, instructions = '') {
      return Promise.resolve(new Map([['custom_instructions', instructions]]));
    }
  }
  const turn = new Turn('hello', { workingDirectory: folder });
  let asked: QueryOptions | undefined;
  const answers = (async function* () {})();
  const query: ClaudeQuery = Object.assign(answers, { interrupt: async () => {}, close: () => {} }) as never;
  const sdk = {
    query({ options }: { options: QueryOptions }) {
      asked = options;
      return query;
    },
  };
  const settings = { displayName: 'Claude', models: [], tools: [], env: {} } as unknown as ClaudeSettings;
  const beginning = { kind: 'new', conversation: '6f0e7a60-0000-4000-8000-000000000000', turns: [] } as const;
  const run = new ClaudeTurn({ sdk: sdk as never, settings, turn, beginning, signal: turn.signal });
  await run.run().catch(() => {});
  expect(JSON.stringify(asked?.systemPrompt)).toMatch(/ROOT RULES.*PACKAGE RULES/);
  expect(asked?.settingSources).toEqual([]);
});
