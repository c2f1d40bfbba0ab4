/**
 * Has the recorder record what the calls of a session change, even if tools run elsewhere: in an agent with its own
 * tools, or in a client. If an agent announces what it is about to run, the host records call by call, so that changes
 * of people in between are not attributed to the agent. Otherwise the whole turn counts as one call.
 */
import type { AgentAbilities } from '@atrium/core/contracts/agent.js';
import type { Extension, GateCall } from '@atrium/core/contracts/extension.js';
import type { Session } from '@atrium/core/sessions/session.js';
import type { EndRecording, Recorder } from './recorder.js';

export interface RecordingOptions {
  readonly session: Pick<Session, 'extensions' | 'state' | 'chatAt'>;
  readonly recorder: Recorder;
  readonly own: OwnRecordings;
}

export function recording({ session, recorder, own }: RecordingOptions): Extension {
  return {
    id: 'changes',
    name: 'changes',
    beforeTurn: async (turn) => void (await own.turnBegins(turn)),
    outsideCallBegins: async (call) =>
      onlyReads(session, call) ? undefined : own.callBegins(inTurnOfPerson(session, call)),
    outsideCallEnds: (call) => own.callEnds(inTurnOfPerson(session, call)),
    around: (call, run) => (onlyReads(session, call) ? run() : recorder.around(inTurnOfPerson(session, call), run)),
  };
}

/**
 * Changes of a worker belong to the turn that it works for: people look for them there, and undo them with that turn.
 */
function inTurnOfPerson(session: RecordingOptions['session'], call: GateCall): GateCall {
  const origin = session.chatAt(call.chat)?.state.origin;
  if (origin?.kind !== 'tool' || !('chat' in origin)) return call;
  const chat = String(origin.chat);
  const turnId = session.chatAt(chat)?.state.activeTurn?.id;
  return turnId === undefined ? call : inTurnOfPerson(session, { ...call, chat, turnId });
}

/** The owner of a tool says whether it only reads. */
function onlyReads(
  { extensions, state }: Pick<Session, 'extensions' | 'state'>,
  { toolName }: Pick<GateCall, 'toolName'>,
) {
  const ofHost = extensions.tools().map(({ definition }) => definition);
  const tool = [...ofHost, ...state.activeClients.flatMap(({ tools }) => tools)].find(({ name }) => name === toolName);
  return tool?.annotations?.readOnlyHint === true;
}

/** Whether a tool is known to only read, by its owner or by its name. */
export function onlyReadsTool(session: Pick<Session, 'extensions' | 'state'>, toolName: string): boolean {
  return onlyReads(session, { toolName }) || ONLY_READ.has(toolName.toLowerCase());
}

/** Tools of agents that only read, in lower case. Snapshots around them would take longer than the tools. */
const ONLY_READ: ReadonlySet<string> = new Set([
  ...['read', 'view', 'glob', 'grep', 'rg', 'ls', 'webfetch', 'websearch', 'web_fetch', 'web_search'],
  ...['todowrite', 'update_todo', 'report_intent', 'ask_user', 'askuserquestion'],
]);

/** Everything that changes in a turn counts as the agent's, whether or not the agent did it. */
export function countsWholeTurns(abilities: AgentAbilities | undefined): boolean {
  return abilities?.ownTools === true && abilities.toolIntent !== 'all';
}

/** A turn and its chat: chats of a session work at the same time. */
type TurnPlace = Pick<GateCall, 'chat' | 'turnId'>;

export class OwnRecordings {
  readonly #isWhole: boolean;
  /** The turn that runs in each chat. */
  readonly #turns = new Map<string, string>();
  /** Functions that end the recordings under way in each chat: of its turn, or of calls by their ids. */
  readonly #open = new Map<string, Map<string, Promise<EndRecording>>>();

  constructor(
    private readonly recorder: Recorder,
    abilities: AgentAbilities | undefined,
  ) {
    this.#isWhole = countsWholeTurns(abilities);
  }

  async turnBegins({ chat, turnId }: TurnPlace): Promise<void> {
    this.#turns.set(chat, turnId);
    if (this.#isWhole) await this.#begin('', { chat, turnId });
  }

  /**
   * Begins again: a person may have been asked since the first time, and changes that they made meanwhile are theirs.
   */
  async callBegins({ chat, toolCallId, toolName, turnId }: GateCall): Promise<void> {
    if (this.#isWhole || ONLY_READ.has(toolName.toLowerCase())) return;
    await this.#end(chat, toolCallId, 'drop');
    // A person may allow a call just when its turn ends; then nothing would end its recording.
    if (this.#turns.get(chat) === turnId) await this.#begin(toolCallId, { chat, turnId });
  }

  callEnds({ chat, toolCallId }: GateCall): Promise<void> {
    return this.#end(chat, toolCallId, 'keep');
  }

  /** The end of a turn ends its calls. */
  async turnEnds(chat: string): Promise<void> {
    this.#turns.delete(chat);
    await Promise.all([...(this.#open.get(chat)?.keys() ?? [])].map((id) => this.#end(chat, id, 'keep')));
  }

  /** The session is unloaded. */
  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((chat) => this.turnEnds(chat)));
  }

  async #begin(id: string, { chat, turnId }: TurnPlace): Promise<void> {
    const begun = this.recorder.begin(turnId);
    const open = this.#open.get(chat) ?? new Map<string, Promise<EndRecording>>();
    this.#open.set(chat, open.set(id, begun));
    await begun;
  }

  async #end(chat: string, id: string, how: 'keep' | 'drop'): Promise<void> {
    const open = this.#open.get(chat);
    const begun = open?.get(id);
    open?.delete(id);
    if (open?.size === 0) this.#open.delete(chat);
    await begun?.then((end) => end(how));
  }
}
