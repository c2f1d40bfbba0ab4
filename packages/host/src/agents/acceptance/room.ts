/** One person, one session in a folder of its own, and the agent, with a host between them. */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SessionState, Turn } from '@atrium/protocol';
import type { AgentBackend } from '../../core/contracts/agent.js';
import type { Extension } from '../../core/contracts/extension.js';
import { MemoryLog } from '../../core/log/memory-log.js';
import { createHost } from '../../host.js';
import type { Host } from '../../host-options.js';
import { noteTool } from './note-tool.js';
import { type Action, Person, type SeenAction } from './person.js';
import type { AgentUnderTest } from './subject.js';
import { watchedAgent } from './watched-agent.js';

/** Outlives the host that uses it. */
class KeptLog extends MemoryLog {
  override async close(): Promise<void> {}
}

export interface RoomOptions {
  readonly extras: Omit<Extension, 'id' | 'name'>;
  readonly waitMaxMs: number;
}

/** In which a limited time is counted. */
const SLICE_MS = 25;

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SLICE_MS));
}

/** What a person says to a call that asks. */
export type Answer = (toolCallId: string, turnId: string) => Action;

const SESSION = 'ahp-session:/acceptance';
const TURN_ENDS: ReadonlySet<string> = new Set(['session/turnComplete', 'session/turnCancelled', 'session/error']);

export class Room {
  /** What the tool was given. */
  readonly notes: unknown[] = [];
  readonly #log = new KeptLog();
  readonly #subject: AgentUnderTest;
  readonly #options: RoomOptions;
  /** The session's folder. */
  readonly folder: string;
  #here: { readonly host: Host; readonly person: Person } | undefined;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(subject: AgentUnderTest, options: RoomOptions, folder: string) {
    this.#subject = subject;
    this.#options = options;
    this.folder = folder;
  }

  static async open(subject: AgentUnderTest, options: RoomOptions): Promise<Room> {
    const folder = await realpath(await mkdtemp(path.join(os.tmpdir(), 'acceptance-')));
    const room = new Room(subject, options, folder);
    try {
      await room.#start();
      const { provider } = room.agent.info;
      const workingDirectory = pathToFileURL(folder).href;
      await room.#person.request('createSession', { channel: SESSION, provider, workingDirectory });
      await room.state();
      return room;
    } catch (error) {
      await room.close();
      throw error;
    }
  }

  get agent(): AgentBackend {
    return this.#subject.agent;
  }

  get #person(): Person {
    if (!this.#here) throw new Error('nobody is in the room');
    return this.#here.person;
  }

  /** Everything that the session did so far, as the person saw it. */
  get actions(): readonly SeenAction[] {
    return this.#person.actions;
  }

  async heard(): Promise<string> {
    return (await this.#subject.heard?.()) ?? '';
  }

  /** Undefined where the agent under test cannot tell. */
  async pids(): Promise<readonly number[] | undefined> {
    return this.#subject.pids?.();
  }

  /** One turn, from the message to its end. A tool call that asks gets the answer. */
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
    const { toolCallId } = await this.#person.action((action) => isQuestion(action) && action.turnId === turnId);
    return String(toolCallId);
  }

  /** How often a person was asked. */
  get questions(): number {
    return this.actions.filter(isQuestion).length;
  }

  async finished(turnId: string): Promise<Turn> {
    await this.#person.action((action) => action.turnId === turnId && TURN_ENDS.has(action.type));
    const found = (await this.state()).turns.find(({ id }) => id === turnId);
    if (!found) throw new Error(`the turn ${turnId} is not in the state`);
    return found;
  }

  async state(): Promise<SessionState> {
    const { result } = await this.#person.request('subscribe', { channel: SESSION });
    if (!result?.snapshot) throw new Error('the session has no state');
    return result.snapshot.state;
  }

  dispatch(action: Action): void {
    this.#person.dispatch(SESSION, action);
  }

  action(type: string): Promise<SeenAction> {
    return this.#person.action((action) => action.type === type);
  }

  /**
   * Whether the agent's own work on the turn ends in time, not only the turn on everybody's screen. Counted in slices: on
   * a machine that is too busy to end one in time, the agent waits as well.
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

  /** Ends the host; what the agent under test is made of stays. */
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
      id: 'room',
      name: 'the room',
      tools: [noteTool(this.notes)],
      ...this.#options.extras,
    };
    const host = await createHost({ log: this.#log, agents: [agent], extensions: [extension] });
    this.#here = { host, person: await Person.join(host, this.#options.waitMaxMs) };
  }
}

function isQuestion({ type, confirmationTitle }: SeenAction): boolean {
  return type === 'session/toolCallReady' && confirmationTitle !== undefined;
}
