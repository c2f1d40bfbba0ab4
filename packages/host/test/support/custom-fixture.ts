/** A session in a real folder, with plugins around it, on a host that runs in real time. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Log } from '@atrium/core/log/log.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import type { Transport } from '@atrium/core/wire/transport.js';
import type { Customization, SessionState } from '@atrium/protocol';
import { expect, onTestFinished } from 'vitest';
import { programFile } from '../../../../test/support/programs.js';
import { createHost } from '../../src/host.js';
import type { Host } from '../../src/host-options.js';
import type { FolderTrust } from '../../src/plugins/trust/folder-trust.js';
import { builtinTools } from '../../src/workspace/tools/builtin.js';
import { KeptLog } from './logs.js';
import { PuppetAgent } from './puppet-agent.js';
import { tempFolder } from './temp-folder.js';
import { type Message, RawClient } from './test-host.js';

/** Processes take long to start on a busy machine. */
export const POLL = { timeout: 20_000, interval: 10 };

/** The MCP server of the tests; its first argument says what kind it is. */
export const MCP_PROGRAM = programFile('mcp-server');

/** A puppet whose prompt the host renders. */
export class PromptPuppet extends PuppetAgent {
  override readonly abilities = { ...new PuppetAgent().abilities, render: 'sections' as const };
  override readonly sections = { custom_instructions: '', safety: 'Be careful.' };
}

/** Folders that are trusted from the start may start whatever they like. */
export class MemoryTrust implements FolderTrust {
  readonly #free: ReadonlySet<string>;
  readonly #programs = new Set<string>();
  constructor(readonly folders: Set<string> = new Set()) {
    this.#free = new Set(folders);
  }
  async isTrusted(folder: string): Promise<boolean> {
    return this.folders.has(folder);
  }
  async allows(folder: string, program: string): Promise<boolean> {
    return this.#free.has(folder) || this.#programs.has(`${folder} ${program}`);
  }
  async trust(folder: string, programs: readonly string[]): Promise<void> {
    this.folders.add(folder);
    for (const program of programs) this.#programs.add(`${folder} ${program}`);
  }
}

type Files = Readonly<Record<string, string>>;

export interface CustomFixtureOptions {
  /** In the session's folder. */
  readonly project?: Files;
  /** In the user's own folder: `plugins/x/…`, `rules/…`. */
  readonly user?: Files;
  /** The user's configuration. */
  readonly config?: object;
  readonly isTrusted?: boolean;
  /** What people trust, in the place of a list in memory. */
  readonly folders?: FolderTrust;
  readonly agent?: PuppetAgent;
  readonly log?: Log;
  readonly clock?: Clock;
  /** Parameters of `createSession`. */
  readonly session?: object;
}

export class CustomFixture {
  readonly uri = `ahp-session:/${crypto.randomUUID()}`;
  client = new RawClient();
  #turns = 0;

  constructor(
    public host: Host,
    readonly agent: PuppetAgent,
    readonly folder: string,
    readonly userFolder: string,
    readonly trust: MemoryTrust,
    readonly configFile: string,
    /** What the host logged as a warning or an error. */
    readonly warnings: readonly string[],
    private readonly start: () => Promise<Host>,
  ) {}

  /** The host stops, and another one begins with what is stored. */
  async restart(): Promise<void> {
    await this.host.stop();
    this.host = await this.start();
    this.client = await this.join('desk');
  }

  /** `answer`: what the client says to requests of the host. */
  async connect(clientId: string, answer?: Answer, params: object = {}): Promise<RawClient> {
    const client = new RawClient();
    this.host.connect(answer ? answering(client, answer) : client.transport);
    await client.initialize(clientId, params);
    return client;
  }

  async join(clientId: string, answer?: Answer): Promise<RawClient> {
    const client = await this.connect(clientId, answer);
    await client.request('subscribe', { channel: this.uri });
    return client;
  }

  state(client = this.client): Promise<SessionState> {
    return client.state<SessionState>(this.uri);
  }

  async entries(): Promise<readonly Entry[]> {
    return ((await this.state()).customizations ?? []) as readonly Entry[];
  }

  /** An entry, as soon as it is as it should be. */
  async entry(name: string, isGood: (entry: Entry) => boolean = isRead): Promise<Entry> {
    const find = async () => (await this.entries()).find((entry) => entry.name === name && isGood(entry));
    await expect.poll(find, POLL).toBeTruthy();
    return (await find()) as Entry;
  }

  /** A turn with its agent in the hands of the test. */
  async turn(text = 'go on') {
    const index = this.#turns++;
    const turnId = `t${index + 1}`;
    this.client.dispatch(this.uri, { type: 'session/turnStarted', turnId, userMessage: { text } });
    return { turnId, ...(await this.agent.turn(index)) };
  }

  toggle(id: string, enabled: boolean, client = this.client): void {
    client.dispatch(this.uri, { type: 'session/customizationToggled', id, enabled });
  }

  /** Answers the question that is open. */
  async answer(response: 'accept' | 'decline', client = this.client): Promise<string> {
    const open = async () => (await this.state()).inputRequests?.[0];
    await expect.poll(open, POLL).toBeTruthy();
    const request = await open();
    client.dispatch(this.uri, { type: 'session/inputCompleted', requestId: request?.id ?? '', response });
    return request?.message ?? '';
  }

  /** The user's configuration is emptied. */
  async withoutConfig(): Promise<void> {
    await writeFile(this.configFile, '{}');
  }

  async toolNames(): Promise<readonly string[]> {
    return ((await this.state()).serverTools ?? []).map(({ name }) => name);
  }
}

export interface Entry extends Omit<Customization, 'type' | 'children'> {
  readonly type: string;
  readonly children?: readonly Child[];
  readonly state?: { readonly kind: string };
}

export interface Child {
  readonly type: string;
  readonly id: string;
  readonly uri: string;
  readonly name: string;
  readonly enabled?: boolean;
  readonly state?: { readonly kind: string; readonly message?: string };
}

export function isRead({ load, type }: Entry): boolean {
  return type === 'mcpServer' || (load !== undefined && load.kind !== 'loading');
}

export async function openCustomFixture(options: CustomFixtureOptions = {}): Promise<CustomFixture> {
  const { agent = new PromptPuppet(), log = new KeptLog(), config, session = {}, isTrusted = false, clock } = options;
  const folder = await tempFolder(options.project);
  const userFolder = await tempFolder(options.user);
  const configFolder = await tempFolder(config && { 'config.json': JSON.stringify(config) });
  const trust = new MemoryTrust(new Set(isTrusted ? [folder] : []));
  const warnings: string[] = [];
  const logger: Logger = {
    log: (level, message, fields) => {
      if (level === 'warn' || level === 'error') warnings.push(`${message} ${JSON.stringify(fields)}`);
    },
  };
  const userConfigFile = path.join(configFolder, 'config.json');
  const customizations = { userFolder, userConfigFile, dataFolder: path.join(configFolder, 'data') };
  const start = async () => {
    const trusting = { trust: options.folders ?? trust };
    const parts = { log, agents: [agent], tools: builtinTools(), customizations, ...trusting, logger };
    const host = await createHost({ ...parts, ...(clock && { clock }) });
    onTestFinished(() => host.stop());
    return host;
  };
  const fixture = new CustomFixture(await start(), agent, folder, userFolder, trust, userConfigFile, warnings, start);
  fixture.client = await fixture.connect('desk');
  const workingDirectory = pathToFileURL(folder).href;
  await fixture.client.session(fixture.uri, { workingDirectory, ...session });
  return fixture;
}

/** Says what a client answers to a request of the host; throws an `Error` with a `code` for an error. */
export type Answer = (method: string, params: Record<string, unknown>) => unknown;

function answering(client: RawClient, answer: Answer): Transport {
  const { transport } = client;
  return {
    name: transport.name,
    bufferedBytes: 0,
    start: (events) => transport.start(events),
    close: (code, reason) => transport.close(code, reason),
    send(frames) {
      transport.send(frames);
      for (const { text } of frames) {
        const message: Message = JSON.parse(text);
        if (message.method === undefined || typeof message.id !== 'number') continue;
        client.send({ id: message.id, ...answerOf(answer, message.method, message.params ?? {}) });
      }
    },
  };
}

export class ClientError extends Error {
  constructor(readonly code: number) {
    super('no');
  }
}

function answerOf(answer: Answer, method: string, params: Record<string, unknown>): object {
  try {
    return { result: answer(method, params) };
  } catch (error) {
    return { error: { code: error instanceof ClientError ? error.code : -32603, message: 'no' } };
  }
}

/** A client that has the files of a plugin below a URI. */
export function servedFiles(base: string, files: Files, asked: string[] = []): Answer {
  return (method, params) => {
    const names = Object.keys(files);
    const uri = String(params.uri);
    asked.push(`${method} ${uri}`);
    const inner = uri.slice(base.length).replace(/^\//, '');
    if (method === 'resourceRead') {
      const data = files[inner];
      if (data === undefined) throw new ClientError(-32008);
      return { data, encoding: 'utf-8' };
    }
    const below = names.filter((name) => inner === '' || name.startsWith(`${inner}/`));
    if (below.length === 0) throw new ClientError(-32008);
    const rest = below.map((name) => name.slice(inner === '' ? 0 : inner.length + 1));
    const entries = new Map(
      rest.map((name) => [name.split('/')[0], name.includes('/') ? 'directory' : 'file'] as const),
    );
    return { entries: [...entries].map(([name, type]) => ({ name, type })) };
  };
}
