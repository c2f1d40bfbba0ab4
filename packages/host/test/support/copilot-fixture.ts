/** A session with the real Copilot agent, a folder, and a client that uses it. */
import { pathToFileURL } from 'node:url';
import type { Extension } from '@atrium/core/contracts/extension.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import type { SessionState, StateAction, ToolCallState, Turn } from '@atrium/protocol';
import { onTestFinished } from 'vitest';
import type { CopilotAgentOptions } from '../../../agents/src/copilot/backend.js';
import { createHost } from '../../src/host.js';
import type { Host } from '../../src/host-options.js';
import { type CopilotUnderTest, copilotUnderTest } from './copilot-agent.js';
import type { ServedAnswer } from './model-server.js';
import { callsIn } from './session-fixture.js';
import { tempFolder } from './temp-folder.js';
import { RawClient } from './test-host.js';

/** A process is started for every fixture, on a machine that may be busy. */
export const WAIT_MAX_MS = 20_000;
const TURN_ENDS: ReadonlySet<string> = new Set(['session/turnComplete', 'session/turnCancelled', 'session/error']);
const SESSION = 'ahp-session:/copilot';

export interface CopilotFixtureOptions {
  readonly files?: Readonly<Record<string, string>>;
  readonly extension?: Omit<Extension, 'id' | 'name'>;
  readonly agent?: Partial<CopilotAgentOptions>;
}

/** Outlives the host that uses it. */
class KeptLog extends MemoryLog {
  override async close(): Promise<void> {}
}

type Action = Record<string, unknown> & { readonly type: string };

export class CopilotFixture {
  readonly uri = SESSION;
  #log = new KeptLog();
  #host: Host | undefined;
  #client = new RawClient();

  private constructor(
    readonly copilot: CopilotUnderTest,
    readonly folder: string,
    private readonly options: CopilotFixtureOptions,
  ) {}

  /** Is gone when its test is over. */
  static async open(answers: readonly ServedAnswer[], options: CopilotFixtureOptions = {}): Promise<CopilotFixture> {
    const folder = await tempFolder(options.files);
    const copilot = await copilotUnderTest(answers, options.agent);
    const fixture = new CopilotFixture(copilot, folder, options);
    onTestFinished(async () => {
      await fixture.stop();
      await copilot.close();
    });
    await fixture.start();
    await fixture.create();
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
    return this.copilot.server.heard(index);
  }

  /** The system prompt of a request. */
  system(index = -1): string {
    const { messages } = this.copilot.server.requests.at(index)?.body ?? {};
    return String((messages as { content: string }[])[0]?.content);
  }

  /** The tools that the model could choose from in a request. */
  toolNames(index = -1): string[] {
    const { tools } = this.copilot.server.requests.at(index)?.body ?? {};
    return (tools as { function: { name: string } }[]).map((tool) => tool.function.name);
  }

  async create(): Promise<void> {
    const workingDirectory = pathToFileURL(this.folder).href;
    await this.#client.request('createSession', { channel: SESSION, provider: 'copilot', workingDirectory });
    await this.state();
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

  /** The call of a turn that asks a person. */
  async question(turnId: string): Promise<Action & { toolCallId: string }> {
    const found = await this.action((action) => action.turnId === turnId && action.confirmationTitle !== undefined);
    return found as Action & { toolCallId: string };
  }

  /** How often a person was asked. */
  get questions(): number {
    return this.actions.filter(({ confirmationTitle }) => confirmationTitle !== undefined).length;
  }

  get actions(): Action[] {
    return this.#client.envelopes(SESSION).map(({ action }) => action as Action);
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
    await this.stop();
    await this.start();
    await this.state();
  }

  /** What is seen of the sessions when a host opens them after this one was killed. */
  async crash(): Promise<RawClient> {
    const next = await createHost({ log: this.#log, agents: [] });
    onTestFinished(() => next.stop());
    const client = new RawClient();
    next.connect(client.transport);
    await client.initialize('late', { protocolVersions: ['1.0.0'] });
    return client;
  }

  /** A host that knows nothing, and a session of the same name. */
  async startOver(): Promise<void> {
    await this.stop();
    this.#log = new KeptLog();
    await this.start();
    await this.create();
  }

  async start(): Promise<void> {
    const extension: Extension = { id: 'room', name: 'the room', ...this.options.extension };
    this.#host = await createHost({ log: this.#log, agents: [this.copilot.agent], extensions: [extension] });
    this.#client = new RawClient();
    this.#host.connect(this.#client.transport);
    await this.#client.initialize('desk');
  }

  async stop(): Promise<void> {
    await this.#host?.stop();
    this.#host = undefined;
  }
}

/** An answer that runs a command with Copilot's own tool. */
export function bash(command: string): ServedAnswer {
  return { calls: [{ name: 'bash', input: { command, description: 'Does something' } }] };
}

export function callIn({ responseParts }: Turn): ToolCallState {
  const [call] = callsIn(responseParts);
  if (!call) throw new Error('the turn has no call');
  return call;
}
