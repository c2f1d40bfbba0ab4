/**
 * The unmodified GitHub Copilot CLI as a client of our host, in a real terminal. It needs no account for this: it watches,
 * answers, approves and stops what others start.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from '@atrium/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AGENT_SCRIPT, isBuilt, startHost, type TestHost } from './support/host.js';
import { hasTmux, openTerminal } from './support/terminal.js';

const INSTALLED = fileURLToPath(new URL('../../../node_modules/.bin/copilot', import.meta.url));
const PROGRAM = process.env.ATRIUM_COPILOT ?? INSTALLED;
const isHere = existsSync(PROGRAM) && hasTmux && isBuilt;
const WHILE = { timeout: 30_000, interval: 100 };

/** Attaches it, past its question about the folder. */
async function attach(url: string, ...args: string[]) {
  const home = await mkdtemp(path.join(tmpdir(), 'atrium-copilot-'));
  // It goes on writing for a moment when its terminal is closed.
  onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }));
  const env = { COPILOT_CLI_ENABLED_FEATURE_FLAGS: 'AHP_CLIENT', COPILOT_AUTO_UPDATE: 'false' };
  const terminal = await openTerminal({ ...env, HOME: home, XDG_CACHE_HOME: path.join(home, 'cache') }, home);
  terminal.resize(140, 45);
  terminal.type(`${PROGRAM} --ahp '${url}' ${args.join(' ')}`);
  terminal.keys('Enter');
  await terminal.sees(/Do you trust the files/);
  terminal.keys('Enter');
  return terminal;
}

async function addressOf(host: TestHost) {
  const [, port] = /^READY:(\d+)$/m.exec(host.serve.said.stdout) ?? [];
  const token = (await readFile(path.join(host.dataDir, 'connection-token'), 'utf8')).trim();
  const client = await connect({ url: `ws://127.0.0.1:${port}`, token });
  onTestFinished(() => client.close());
  return { client, url: `ws://127.0.0.1:${port}?tkn=${token}` };
}

/** The usual script, with a command of more than 64 Ki characters. */
async function scriptWithLongInput(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-script-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const script = JSON.parse(await readFile(AGENT_SCRIPT, 'utf8'));
  const command = `echo begin-of-it > made; : ${'x'.repeat(70_000)}`;
  script.prompts.long = [{ callTool: { name: 'shell', input: { command } } }, { text: 'Long.' }];
  const file = path.join(folder, 'script.json');
  await writeFile(file, JSON.stringify(script));
  return file;
}

describe.skipIf(!isHere)(
  'the GitHub Copilot CLI as a client (skipped unless it is installed: npm run test:clients)',
  { timeout: 180_000 },
  () => {
    it('[UP-195] [UP-198] [UP-199] [UP-247] [UP-248] [UP-249] [UP-200] [UP-250] shows what others say, answers, approves, stops, and leaves', async () => {
      const host = await startHost([], onTestFinished, await scriptWithLongInput());
      const { client, url } = await addressOf(host);
      const terminal = await attach(url);
      await terminal.sees(/Connected to/);
      const [made] = await client.listSessions();
      expect(made?.provider).toBe('mock');
      const open = await client.open(made?.resource ?? '');
      const state = () => open.state.chat;
      const clients = () => open.state.session.activeClients.map(({ displayName }) => displayName);
      expect(clients()).toEqual(['Copilot CLI']);
      const say = (turnId: string, text: string) =>
        open.dispatch({ type: 'chat/turnStarted', turnId, message: { text, origin: { kind: 'user' } } });
      const ended = (turnId: string) => expect.poll(() => state().turns.find(({ id }) => id === turnId)?.state, WHILE);

      await say('t1', 'hello');
      await terminal.sees(/Hello you, here is\s+code/);

      await say('t2', 'ask');
      await terminal.sees(/Which colour\?/);
      terminal.keys('Enter');
      await expect.poll(() => open.state.session.inputNeeded ?? [], WHILE).toEqual([]);
      await ended('t2').toBe('complete');

      await say('t3', 'shell');
      await terminal.sees(/1\. Run/);
      terminal.keys('Enter');
      await ended('t3').toBe('complete');
      const [part] = state().turns.find(({ id }) => id === 't3')?.responseParts ?? [];
      expect(part).toMatchObject({ toolCall: { status: 'completed', confirmed: 'user-action' } });

      // Long input comes as text: for a reference it shows an empty input, and takes a yes to that.
      await say('long', 'long');
      await terminal.sees(/x"\s+│\n│ \}[\s\S]*❯ 1\. Run/);
      terminal.keys('Enter');
      await ended('long').toBe('complete');
      const [call] = state().turns.find(({ id }) => id === 'long')?.responseParts ?? [];
      expect(call).toMatchObject({ toolCall: { status: 'completed', confirmed: 'user-action' } });

      await say('t4', 'slow');
      await terminal.sees(/Word after/);
      // Twice in a row stops the turn; the first may only close a hint.
      for (let presses = 0; presses < 40 && state().activeTurn; presses += 1) {
        terminal.keys('Escape');
        await new Promise((resolve) => setTimeout(resolve, 150));
      }
      await ended('t4').toBe('cancelled');

      terminal.keys('C-c');
      await new Promise((resolve) => setTimeout(resolve, 500));
      terminal.keys('C-c');
      await expect.poll(clients, WHILE).toEqual([]);
    });

    it('[UP-246] shows the history of a session that it is started with, and makes none', async () => {
      const host = await startHost();
      const { client, url } = await addressOf(host);
      await host.run(['run', 'hello']);
      const [known] = await client.listSessions();
      const terminal = await attach(url, `--resume=${known?.resource.split('/').at(-1)}`);
      await terminal.sees(/Hello you, here is\s+code/);
      expect(await client.listSessions()).toHaveLength(1);
    });
  },
);
