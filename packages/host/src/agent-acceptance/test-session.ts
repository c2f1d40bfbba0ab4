/** A session with the agent under test in its own folder, with a host and a client around it. */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AgentBackend, AgentSession } from '@atrium/core/contracts/agent.js';
import type { Extension } from '@atrium/core/contracts/extension.js';
import type { HostTool } from '@atrium/core/contracts/tool.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import type { SessionState, Turn } from '@atrium/protocol';
import { createHost } from '../host.js';
import type { Host } from '../host-options.js';
import type { AgentUnderTest, PlannedAnswer } from './suite.js';
import { type Action, type SeenAction, TestClient } from './test-client.js';

/** A log that survives a restart of the host. */
class KeptLog extends MemoryLog {
  override async close(): Promise<void> {}
}

export interface TestSessionOptions {
  readonly extras: Omit<Extension, 'id' | 'name'>;
  readonly waitMaxMs: number;
}

/** The unit in which `stopsWithin` counts time. */
const SLICE_MS = 25;

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SLICE_MS));
}

/** A person's answer to a call that asks. */
export type Answer = (toolCallId: string, turnId: string) => Action;

const SESSION = 'ahp-session:/acceptance';
const TURN_ENDS: ReadonlySet<string> = new Set(['session/turnComplete', 'session/turnCancelled', 'session/error']);

export class TestSession {
  /** The inputs of the tool's calls. */
  readonly notes: unknown[] = [];
  readonly #log = new KeptLog();
  readonly #subject: AgentUnderTest;
  readonly #options: TestSessionOptions;
  /** The session's folder. */
  readonly folder: string;
  #here: { readonly host: Host; readonly client: TestClient } | undefined;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(subject: AgentUnderTest, options: TestSessionOptions, folder: string) {
    this.#subject = subject;
    this.#options = options;
    this.folder = folder;
  }

  static async open(subject: AgentUnderTest, options: TestSessionOptions): Promise<TestSession> {
    const folder = await realpath(await mkdtemp(path.join(os.tmpdir(), 'acceptance-')));
    const session = new TestSession(subject, options, folder);
    try {
      await session.#start();
      const { provider } = session.agent.info;
      const workingDirectory = pathToFileURL(folder).href;
      await session.#client.request('createSession', { channel: SESSION, provider, workingDirectory });
      await session.state();
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  get agent(): AgentBackend {
    return this.#subject.agent;
  }

  get #client(): TestClient {
    if (!this.#here) throw new Error('the host is stopped');
    return this.#here.client;
  }

  /** All actions of the session so far. */
  get actions(): readonly SeenAction[] {
    return this.#client.actions;
  }

  async receivedMessages(): Promise<string> {
    return (await this.#subject.receivedMessages?.()) ?? '';
  }

  /** Undefined when the agent under test cannot tell. */
  async pids(): Promise<readonly number[] | undefined> {
    return this.#subject.pids?.();
  }

  /** Runs one turn, from the message to its end. A tool call that asks gets the answer. */
  async turn(text: string, answer?: Answer): Promise<Turn> {
    const turnId = this.begin(text);
    if (answer) this.dispatch(answer(await this.question(turnId), turnId));
    return this.finished(turnId);
  }

  begin(text: string): string {
    const turnId = `t-${crypto.randomUUID()}`;
    this.dispatch({ type: 'session/turnStarted', turnId, userMessage: { text } });
    return turnId;
  }

  /** The call of a turn that asks a person. */
  async question(turnId: string): Promise<string> {
    const { toolCallId } = await this.#client.action((action) => isQuestion(action) && action.turnId === turnId);
    return String(toolCallId);
  }

  /** How often a person was asked. */
  get questions(): number {
    return this.actions.filter(isQuestion).length;
  }

  async finished(turnId: string): Promise<Turn> {
    await this.#client.action((action) => action.turnId === turnId && TURN_ENDS.has(action.type));
    const found = (await this.state()).turns.find(({ id }) => id === turnId);
    if (!found) throw new Error(`the turn ${turnId} is not in the state`);
    return found;
  }

  async state(): Promise<SessionState> {
    const { result } = await this.#client.request('subscribe', { channel: SESSION });
    if (!result?.snapshot) throw new Error('the session has no state');
    return result.snapshot.state;
  }

  dispatch(action: Action): void {
    this.#client.dispatch(SESSION, action);
  }

  action(type: string): Promise<SeenAction> {
    return this.#client.action((action) => action.type === type);
  }

  /**
   * Whether the agent's own work on the turn ends in time, not only the turn that clients see. Counts in slices,
   * because on a machine that is too busy to complete one in time, the agent waits as well.
   */
  async stopsWithin(milliseconds: number): Promise<boolean> {
    let isStopped = false;
    const stop = () => {
      isStopped = true;
    };
    const stopped = this.#running.then(stop, stop);
    for (let left = milliseconds; left > 0 && !isStopped; left -= SLICE_MS) await Promise.race([stopped, pause()]);
    return isStopped;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.#start();
    await this.state();
  }

  /** Stops the host, but not the agent under test. */
  async stop(): Promise<void> {
    await this.#here?.host.stop();
    this.#here = undefined;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#subject.close?.();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    const agent = watchedAgent(this.agent, (running) => {
      this.#running = running;
    });
    const extension: Extension = {
      id: 'acceptance',
      name: 'the acceptance suite',
      tools: [noteTool(this.notes)],
      ...this.#options.extras,
    };
    // Shows whether the agent itself streams.
    const joinText = false;
    const host = await createHost({ log: this.#log, agents: [agent], extensions: [extension], joinText });
    this.#here = { host, client: await TestClient.join(host, this.#options.waitMaxMs) };
  }
}

function isQuestion({ type, confirmationTitle }: SeenAction): boolean {
  return type === 'session/toolCallReady' && confirmationTitle !== undefined;
}

/** The same agent, which also reports when a turn begins. */
function watchedAgent(agent: AgentBackend, began: (running: Promise<void>) => void): AgentBackend {
  const { info, abilities, sections } = agent;
  return { info, abilities, sections, open: async (context) => watchedSession(await agent.open(context), began) };
}

function watchedSession(session: AgentSession, began: (running: Promise<void>) => void): AgentSession {
  return {
    runTurn: (turn) => {
      const running = session.runTurn(turn);
      began(running);
      return running;
    },
    truncated: async (turnId) => session.truncated?.(turnId),
    close: () => session.close(),
  };
}

/** The name of the one tool of the suite. It asks a person first, and remembers its input. */
export const NOTE = 'note';
/** Its result, which must reach the model. */
export const NOTED = 'noted under 7';
/** An answer that calls it. */
export const callsNote: PlannedAnswer = { call: { name: NOTE, input: { text: 'plums' } } };

function noteTool(notes: unknown[]): HostTool {
  const properties = { text: { type: 'string' } };
  return {
    definition: {
      name: NOTE,
      description: 'Notes a text.',
      inputSchema: { type: 'object', properties, required: ['text'] },
    },
    displayName: 'Note',
    invocationMessage: () => 'Note something',
    confirmation: () => ({ title: 'Note it?' }),
    run: async (input) => {
      notes.push(input);
      return { success: true, pastTenseMessage: 'Noted something', content: [{ type: 'text', text: NOTED }] };
    },
  };
}

const CONFIRMED = 'session/toolCallConfirmed';

/** Why a person denies a call. It should reach the model. */
export const REASON = 'write to the blue file instead';

export const approve: Answer = (toolCallId, turnId) => {
  return { type: CONFIRMED, turnId, toolCallId, approved: true, confirmed: 'user-action' };
};

export const deny: Answer = (toolCallId, turnId) => {
  const userSuggestion = { text: REASON };
  return { type: CONFIRMED, turnId, toolCallId, approved: false, reason: 'denied', userSuggestion };
};

export function textIn({ responseParts }: Turn): string {
  return responseParts.flatMap((part) => (part.kind === 'markdown' ? part.content : [])).join('');
}
