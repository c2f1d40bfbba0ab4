/** Where tests of terminals begin: a host with real shells, and a home of their own for them. */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { TerminalContentPart, TerminalInfo, TerminalState } from '@atrium/protocol';
import { onTestFinished, vi } from 'vitest';
import type { TerminalsOptions } from '../../src/workspace/terminals/terminals.js';
import { startHost } from './session-fixture.js';
import { tempFolder } from './temp-folder.js';
import { type RawClient, ROOT, type TestHost, type TestHostOptions } from './test-host.js';

export interface TerminalFixture {
  readonly host: TestHost;
  readonly client: RawClient;
  /** The home and the first folder of its shells. */
  readonly folder: string;
}

export interface TerminalFixtureOptions extends Omit<TestHostOptions, 'terminals'> {
  readonly terminals?: TerminalsOptions;
  /** What is in the home. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A shell that shows nothing but what it is asked for. */
export const PLAIN_SHELL: TerminalsOptions = { shell: '/bin/sh' };

export async function openTerminalFixture(options: TerminalFixtureOptions = {}): Promise<TerminalFixture> {
  const { terminals = PLAIN_SHELL, files = {}, ...rest } = options;
  const folder = await tempFolder(files);
  vi.stubEnv('HOME', folder);
  vi.stubEnv('ZDOTDIR', undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  const host = await startHost({ defaultDirectory: fileUri(folder), ...rest, terminals });
  return { host, client: await host.client('desk'), folder };
}

let opened = 0;

/** Opens a terminal, and watches it. */
export async function openTerminal(client: RawClient, params: object = {}): Promise<string> {
  const channel = `ahp-terminal:/t${++opened}`;
  const claim = { kind: 'client', clientId: client.clientId };
  await client.request('createTerminal', { channel, claim, ...params });
  await client.request('subscribe', { channel });
  return channel;
}

export function type(client: RawClient, uri: string, data: string): void {
  client.dispatch(uri, { type: 'terminal/input', data });
}

export function fileUri(folder: string): string {
  return pathToFileURL(folder).href;
}

export function stateIn(client: RawClient, uri: string): Promise<TerminalState> {
  return client.state<TerminalState>(uri);
}

/** All that a terminal shows. */
export function textIn(content: readonly TerminalContentPart[]): string {
  return content.map((part) => (part.type === 'command' ? part.output : part.value)).join('');
}

/** Asks for the state again and again until it is as wanted. */
export async function until(
  client: RawClient,
  uri: string,
  test: (state: TerminalState) => boolean,
  timeoutMs = 8_000,
): Promise<TerminalState> {
  const limit = performance.now() + timeoutMs;
  for (;;) {
    const state = await stateIn(client, uri);
    if (test(state)) return state;
    if (performance.now() > limit) throw new Error(`waited in vain; the terminal is ${JSON.stringify(state)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export function untilText(client: RawClient, uri: string, text: string | RegExp): Promise<TerminalState> {
  return until(client, uri, ({ content }) =>
    typeof text === 'string' ? textIn(content).includes(text) : text.test(textIn(content)),
  );
}

export async function catalogue(client: RawClient): Promise<readonly TerminalInfo[]> {
  return (await client.state<{ terminals?: TerminalInfo[] }>(ROOT)).terminals ?? [];
}

/** A process that was killed but not yet taken off the table by its parent does not count. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** The number that a command has shown as `<name>=<pid>.` */
export function pidIn(state: TerminalState, name: string): number {
  const found = new RegExp(`${name}=(\\d+)\\.`).exec(textIn(state.content));
  if (!found) throw new Error(`${name} is not shown`);
  return Number(found[1]);
}
