/** A host that keeps changes, an agent in the hands of the test with real tools, and a folder with or without Git. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { appendFile, cp, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { DirectDelivery } from '@atrium/core/channels/delivery.js';
import { Writer } from '@atrium/core/channels/writer.js';
import type { Log } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { type Clock, systemClock } from '@atrium/core/util/clock.js';
import { silentLogger } from '@atrium/core/util/logger.js';
import type { ChangesetFile, ChangesetState } from '@atrium/protocol';
import { onTestFinished } from 'vitest';
import type { FolderTrust } from '../../src/plugins/trust/folder-trust.js';
import type { ChangeRecords } from '../../src/workspace/changes/change-log.js';
import { builtinTools } from '../../src/workspace/tools/builtin.js';
import { PuppetAgent } from './puppet-agent.js';
import { tempFolder } from './temp-folder.js';
import { type RawClient, startTestHost, type TestHost } from './test-host.js';

/** The test's own Git, as a person has it in a terminal. */
export function gitIn(folder: string, ...args: string[]): string {
  const env = { ...process.env, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  return execFileSync('git', args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** A repository with one commit. */
export async function repository(files: Readonly<Record<string, string>> = { 'a.txt': 'one\ntwo\nthree\n' }) {
  const folder = await tempFolder();
  await cp(await templateOf(files), folder, { recursive: true, preserveTimestamps: true });
  return folder;
}

const templates = new Map<string, Promise<string>>();

/** Most tests begin with the same files. Copying a repository is ten times as fast as having Git make it. */
function templateOf(files: Readonly<Record<string, string>>): Promise<string> {
  const key = JSON.stringify(Object.entries(files));
  const template = templates.get(key) ?? makeTemplate(files);
  templates.set(key, template);
  return template;
}

async function makeTemplate(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-template-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) await edit(folder, name, content);
  gitIn(folder, 'init', '-q', '-b', 'main', '--template=');
  await mkdir(path.join(folder, '.git', 'hooks'));
  await appendFile(path.join(folder, '.git', 'config'), '[user]\n\tname = desk\n\temail = desk@example.com\n');
  commitAll(folder, 'first');
  return folder;
}

export function commitAll(folder: string, message: string): void {
  gitIn(folder, 'add', '-A');
  gitIn(folder, 'commit', '-q', '--allow-empty', '-m', message);
}

/** Writes as a person does, in an editor of their own. */
export async function edit(folder: string, name: string, content: string | Uint8Array): Promise<void> {
  const file = path.join(folder, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content);
}

export function textOf(folder: string, name: string): Promise<string> {
  return readFile(path.join(folder, name), 'utf8');
}

/** A log of its own, for what needs nothing else of a host. */
export function changeRecords(log: Log = new MemoryLog()): ChangeRecords {
  const nothing = () => {};
  const writer = new Writer({
    log,
    clock: systemClock,
    logger: silentLogger,
    delivery: new DirectDelivery({ shown: log.head, logger: silentLogger, show: nothing }),
    undone: nothing,
    superseded: nothing,
  });
  return { log, writer };
}

export interface ChangesFixtureOptions {
  readonly folder: string;
  readonly data?: string;
  readonly log?: Log;
  readonly clock?: Clock;
  readonly trust?: FolderTrust;
  readonly agent?: PuppetAgent;
  /** A session that is there already. */
  readonly uri?: string;
  /** Commands run in terminals, as they do for people. That takes twice the time, and most tests are not about it. */
  readonly inTerminals?: boolean;
}

export class ChangesFixture {
  #turns = 0;

  private constructor(
    readonly host: TestHost,
    readonly client: RawClient,
    readonly agent: PuppetAgent,
    readonly uri: string,
    readonly folder: string,
    readonly data: string,
  ) {}

  static async open(options: ChangesFixtureOptions): Promise<ChangesFixture> {
    const { folder, agent = new PuppetAgent(), data = await tempFolder(), log, clock, trust, inTerminals } = options;
    // Every call is approved without a question.
    const tools = builtinTools().map((tool) => ({ ...tool, confirmation: () => undefined }));
    const host = await startTestHost({
      tools,
      agents: [agent],
      dataFolder: data,
      ...(!inTerminals && { terminals: false }),
      ...(log && { log }),
      ...(clock && { clock }),
      ...(trust && { trust }),
    });
    onTestFinished(() => host.stop().catch(() => {}));
    const client = await host.client('desk');
    const workingDirectory = pathToFileURL(folder).href;
    const uri = options.uri ?? (await client.session(undefined, { provider: 'puppet', workingDirectory }));
    if (options.uri !== undefined) await client.request('subscribe', { channel: uri });
    return new ChangesFixture(host, client, agent, uri, folder, data);
  }

  /** The URI of a view: `uncommitted`, `session`, `turn/t1`. */
  view(name: string): string {
    return `ahp-changeset:/${this.uri.slice('ahp-session:/'.length)}/${name}`;
  }

  /** Runs a turn in which the agent does this. */
  async turn(
    work: (call: (name: string, input: object) => Promise<void>) => Promise<void>,
    turnId?: string,
  ): Promise<string> {
    const id = turnId ?? `t${++this.#turns}-${crypto.randomUUID().slice(0, 4)}`;
    const index = this.agent.turns.length;
    this.client.dispatch(this.uri, { type: 'session/turnStarted', turnId: id, userMessage: { text: 'go on' } });
    const { turn, finish } = await this.agent.turn(index);
    await work(async (name, input) => {
      const outcome = await turn.callTool({ name, input });
      if (outcome.kind !== 'completed') throw new Error(JSON.stringify(outcome));
    });
    finish();
    await this.client.action(this.uri, (action) => action.type === 'session/turnComplete' && action.turnId === id);
    return id;
  }

  /** The state of a view once it is no longer being computed, and fits. */
  async shown(name: string, fits: (state: ChangesetState) => boolean = () => true): Promise<ChangesetState> {
    for (let tries = 0; ; tries += 1) {
      const state = await this.client.state<ChangesetState>(this.view(name));
      if (state.status !== 'computing' && fits(state)) return state;
      if (tries > 60) throw new Error(`it stays like this: ${JSON.stringify(state, null, 1)}`);
      await new Promise((resolve) => setTimeout(resolve, 30 + tries * 10));
    }
  }

  /** The state of a view that was opened just now. */
  async fresh(name: string): Promise<ChangesetState> {
    this.client.send({ method: 'unsubscribe', params: { channel: this.view(name) } });
    return this.shown(name);
  }

  /** The files of a view by their path in the folder. */
  async files(name: string, fits?: (state: ChangesetState) => boolean): Promise<Map<string, ChangesetFile>> {
    const { files } = await this.shown(name, fits);
    const base = `${pathToFileURL(this.folder).href}/`;
    return new Map(files.map((file) => [file.id.replace(base, ''), file]));
  }

  async invoke(name: string, operationId: string, target?: object): Promise<{ message?: string }> {
    return this.client.request('invokeChangesetOperation', {
      channel: this.view(name),
      operationId,
      ...(target && { target }),
    });
  }

  async refusal(name: string, operationId: string, target?: object) {
    const params = { channel: this.view(name), operationId, ...(target && { target }) };
    const { error } = await this.client.ask('invokeChangesetOperation', params);
    if (!error) throw new Error(`${operationId} was not refused`);
    return error;
  }

  uriOf(name: string): string {
    return pathToFileURL(path.join(this.folder, name)).href;
  }

  /** One file as the target of an operation. */
  resource(name: string): object {
    return { kind: 'resource', resource: this.uriOf(name) };
  }
}
