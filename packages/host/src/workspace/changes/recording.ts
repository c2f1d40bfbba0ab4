/**
 * What is changed by tools that the host does not run: by agents with tools of their own, and by clients. Where it is said
 * beforehand what is about to run, calls are recorded one by one, so that what people change in between is not taken for
 * theirs. Of agents that do not say it, the whole turn counts as one call.
 */

import type { AgentAbilities } from '../../core/contracts/agent.js';
import type { Extension, GateCall } from '../../core/contracts/extension.js';
import type { Session } from '../../core/sessions/session.js';
import type { EndRecording, Recorder } from './recorder.js';

/** Tools of agents that only look, by their names in small letters. A look before and after each would take longer. */
const ONLY_LOOK: ReadonlySet<string> = new Set([
  ...['read', 'view', 'glob', 'grep', 'rg', 'ls', 'webfetch', 'websearch', 'web_fetch', 'web_search'],
  ...['todowrite', 'update_todo', 'report_intent', 'ask_user', 'askuserquestion'],
]);

/** Everything that changes in a turn counts as the agent's, whoever did it. */
export function countsWholeTurns(abilities: AgentAbilities | undefined): boolean {
  return abilities?.ownTools === true && abilities.toolIntent !== 'all';
}

export class OwnRecordings {
  readonly #isWhole: boolean;
  /** The turn that runs. */
  #turnId: string | undefined;
  /** Ends the recordings that are under way: of the turn, or of its calls by their ids. */
  readonly #open = new Map<string, Promise<EndRecording>>();

  constructor(
    private readonly recorder: Recorder,
    abilities: AgentAbilities | undefined,
  ) {
    this.#isWhole = countsWholeTurns(abilities);
  }

  async turnBegins(turnId: string): Promise<void> {
    this.#turnId = turnId;
    if (this.#isWhole) await this.#begin('', turnId);
  }

  /** A person may have been asked since it was begun, and what they did meanwhile is theirs: it begins anew. */
  async callBegins({ toolCallId, toolName, turnId }: GateCall): Promise<void> {
    if (this.#isWhole || ONLY_LOOK.has(toolName.toLowerCase())) return;
    await this.#end(toolCallId, 'drop');
    // A call may be allowed just when its turn ends, and nobody would end its recording any more.
    if (this.#turnId === turnId) await this.#begin(toolCallId, turnId);
  }

  callEnds({ toolCallId }: GateCall): Promise<void> {
    return this.#end(toolCallId, 'keep');
  }

  /** Whatever ends a turn ends its calls. */
  async turnEnds(): Promise<void> {
    this.#turnId = undefined;
    await Promise.all([...this.#open.keys()].map((id) => this.#end(id, 'keep')));
  }

  async #begin(id: string, turnId: string): Promise<void> {
    const begun = this.recorder.begin(turnId);
    this.#open.set(id, begun);
    await begun;
  }

  async #end(id: string, how: 'keep' | 'drop'): Promise<void> {
    const begun = this.#open.get(id);
    this.#open.delete(id);
    await begun?.then((end) => end(how));
  }
}

/** Stands around the calls of a session, whoever runs them, and has recorded what they change. */

export interface RecordingParts {
  readonly session: Pick<Session, 'extensions' | 'state'>;
  readonly recorder: Recorder;
  readonly own: OwnRecordings;
}

export function recording({ session, recorder, own }: RecordingParts): Extension {
  return {
    id: 'changes',
    name: 'changes',
    beforeTurn: async ({ turnId }) => void (await own.turnBegins(turnId)),
    outsideCallBegins: async (call) => (onlyLooks(session, call) ? undefined : own.callBegins(call)),
    outsideCallEnds: (call) => own.callEnds(call),
    around: (call, run) => (onlyLooks(session, call) ? run() : recorder.around(call, run)),
  };
}

/** Whoever has the tool says so. */
function onlyLooks({ extensions, state }: RecordingParts['session'], { toolName }: GateCall): boolean {
  const ofHost = extensions.tools().map(({ definition }) => definition);
  const tool = [...ofHost, ...(state.activeClient?.tools ?? [])].find(({ name }) => name === toolName);
  return tool?.annotations?.readOnlyHint === true;
}
