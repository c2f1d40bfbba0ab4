/** A session with the real Claude agent, a folder, and a client that uses it. */
import { pathToFileURL } from 'node:url';
import type { Extension } from '@atrium/core/contracts/extension.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import type { SessionState, StateAction, ToolCallState, Turn } from '@atrium/protocol';
import { onTestFinished } from 'vitest';
import type { ClaudeAgentOptions } from '../../../agents/src/claude/backend.js';
import { createHost } from '../../src/host.js';
import type { Host } from '../../src/host-options.js';
import { type ClaudeUnderTest, claudeUnderTest } from './claude-agent.js';
import type { ServedAnswer, ServedCall } from './model-server.js';
import { callsIn } from './session-fixture.js';
import { tempFolder } from './temp-folder.js';
import { RawClient } from './test-host.js';

/** A program is started for every turn, on a machine that may be busy. */
const WAIT_MAX_MS = 20_000;
const TURN_ENDS: ReadonlySet<string> = new Set(['session/turnComplete', 'session/turnCancelled', 'session/error']);
const SESSION = 'ahp-session:/claude';

export interface ClaudeFixtureOptions {
  readonly files?: Readonly<Record<string, string>>;
  readonly extension?: Omit<Extension, 'id' | 'name'>;
  readonly agent?: ClaudeAgentOptions;
}

/** Outlives the host that uses it. */
class KeptLog extends MemoryLog {
  override async close(): Promise<void> {}
}

type Action = Record<string, unknown> & { readonly type: string };

export class ClaudeFixture {
  readonly uri = SESSION;
  readonly #log = new KeptLog();
  #host: Host | undefined;
  #client = new RawClient();

  private constructor(
    readonly claude: ClaudeUnderTest,
    readonly folder: string,
    private readonly options: ClaudeFixtureOptions,
  ) {}

  /** Is gone when its test is over. */
  static async open(answers: readonly ServedAnswer[], options: ClaudeFixtureOptions = {}): Promise<ClaudeFixture> {
    const folder = await tempFolder(options.files);
    const claude = await claudeUnderTest(answers, options.agent);
    const fixture = new ClaudeFixture(claude, folder, options);
    onTestFinished(async () => {
      await fixture.#host?.stop();
      await claude.close();
    });
    await fixture.#start();
    const workingDirectory = pathToFileURL(folder).href;
    await fixture.#client.request('createSession', { channel: SESSION, provider: 'claude', workingDirectory });
    await fixture.state();
    return fixture;
  }

  get client(): RawClient {
    return this.#client;
  }

  /** Somebody with a program of 1.0, who sees all chats of the session. */
  async watcher(): Promise<RawClient> {
    const client = new RawClient();
    this.#host?.connect(client.transport);
    await client.initialize('watcher', { protocolVersions: ['1.0.0'], initialSubscriptions: [SESSION] });
    return client;
  }

  /** All that the model read in a request, by default the last. */
  heard(index = -1): string {
    return this.claude.server.heard(index);
  }

  /** The system prompt of a request. */
  system(index = -1): string {
    const { system } = this.claude.server.requests.at(index)?.body ?? {};
    return (system as { text: string }[]).map(({ text }) => text).join('\n');
  }

  begin(text: string): string {
    const turnId = `t-${crypto.randomUUID()}`;
    this.dispatch({ type: 'session/turnStarted', turnId, userMessage: { text } });
    return turnId;
  }

  async finished(turnId: string): Promise<Turn> {
    await this.action((action) => action.turnId === turnId && TURN_ENDS.has(action.type));
    const turn = (await this.state()).turns.find(({ id }) => id === turnId);
    if (!turn) throw new Error(`the turn ${turnId} is not in the state`);
    return turn;
  }

  turn(text: string): Promise<Turn> {
    return this.finished(this.begin(text));
  }

  /** The next call that asks a person. */
  async question(turnId: string): Promise<Action & { toolCallId: string }> {
    const found = await this.action(
      (action) => action.turnId === turnId && action.confirmationTitle !== undefined && !this.#asked.has(action),
    );
    this.#asked.add(found);
    return found as Action & { toolCallId: string };
  }

  readonly #asked = new Set<Action>();

  /** How often a person was asked. */
  get questions(): number {
    return this.#actions.filter(({ confirmationTitle }) => confirmationTitle !== undefined).length;
  }

  approve(turnId: string, toolCallId: string, more: object = {}): void {
    const answer = { approved: true, confirmed: 'user-action', ...more };
    this.dispatch({ type: 'session/toolCallConfirmed', turnId, toolCallId, ...answer });
  }

  deny(turnId: string, toolCallId: string, why: string): void {
    const answer = { approved: false, reason: 'denied', userSuggestion: { text: why } };
    this.dispatch({ type: 'session/toolCallConfirmed', turnId, toolCallId, ...answer });
  }

  dispatch(action: StateAction | Action): void {
    this.#client.dispatch(SESSION, action);
  }

  /** Waits for an action, past or future. */
  async action(test: (action: Action) => boolean): Promise<Action> {
    const isWanted = (params: Record<string, unknown> | undefined) =>
      params?.channel === SESSION && test(params.action as Action);
    const found = await this.#client.until(
      ({ method, params }) => method === 'action' && isWanted(params),
      WAIT_MAX_MS,
    );
    return found.params?.action as Action;
  }

  state(): Promise<SessionState> {
    return this.#client.state<SessionState>(SESSION);
  }

  async restart(): Promise<void> {
    await this.#host?.stop();
    await this.#start();
    await this.state();
  }

  get #actions(): Action[] {
    return this.#client.envelopes(SESSION).map(({ action }) => action as Action);
  }

  async #start(): Promise<void> {
    const extension: Extension = { id: 'room', name: 'the room', ...this.options.extension };
    this.#host = await createHost({ log: this.#log, agents: [this.claude.agent], extensions: [extension] });
    this.#client = new RawClient();
    this.#host.connect(this.#client.transport);
    await this.#client.initialize('desk');
  }
}

let calls = 0;

/** An answer that calls tools. */
export function callsOf(...wanted: readonly Omit<ServedCall, 'id'>[]): ServedAnswer {
  return { calls: wanted.map((call) => ({ id: `toolu_${++calls}`, ...call })) };
}

export function bash(command: string): ServedAnswer {
  return callsOf({ name: 'Bash', input: { command, description: 'Does something' } });
}

export function callIn({ responseParts }: Turn): ToolCallState {
  const [call] = callsIn(responseParts);
  if (!call) throw new Error('the turn has no call');
  return call;
}
