/**
 * The calls of one turn, by the id that the model gave them. Those of host tools go through the broker, which shows, gates
 * and confirms them; Claude runs its own, and asks before it does.
 */
import type { AgentTurn, BegunCall, OwnCall, Permit, ToolOutcome } from '../../core/contracts/agent.js';
import type { HostToolCall, HostTools } from './host-tools.js';
import { callWords, confirmationOf, displayName } from './tool-words.js';

type Entry =
  | { readonly kind: 'host'; readonly call: BegunCall }
  | { readonly kind: 'own'; readonly call: OwnCall; readonly tool: string; input: unknown };

/** A call of Claude's own, as its hooks and its questions name it. */
export interface OwnToolUse {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
}

export class Calls {
  readonly #turn: AgentTurn;
  readonly #hostTools: HostTools;
  readonly #folder: string;
  /** Those that are not over. */
  readonly #entries = new Map<string, Entry>();
  /** Those whose input is still being written. */
  readonly #writing = new Set<string>();

  constructor(turn: AgentTurn, hostTools: HostTools, folder: string) {
    this.#turn = turn;
    this.#hostTools = hostTools;
    this.#folder = folder;
  }

  /** The model begins to write a call. */
  begin(id: string, tool: string): void {
    this.#entries.set(id, this.#begun(tool));
    this.#writing.add(id);
  }

  delta(id: string, text: string): void {
    if (this.#writing.has(id) && text !== '') this.#entries.get(id)?.call.delta(text);
  }

  /** A host tool is to run. */
  async runHostTool({ id, name, input }: HostToolCall): Promise<ToolOutcome> {
    const entry = this.#entries.get(id);
    this.#over(id);
    const call = entry?.kind === 'host' ? entry.call : this.#turn.beginCall({ name });
    return call.run(input);
  }

  /** The input of an own call is complete: whoever has something against it says so now. */
  async check(use: OwnToolUse): Promise<Permit> {
    this.#writing.delete(use.id);
    const entry = this.#own(use);
    entry.input = use.input;
    return this.#unlessDenied(use.id, await entry.call.check(use.input, this.#words(use).now));
  }

  /** Claude wants a person to decide. */
  async confirm(use: OwnToolUse): Promise<Permit> {
    const { call } = this.#own(use);
    return this.#unlessDenied(use.id, await call.confirm(confirmationOf(use.tool, this.#words(use))));
  }

  /** An own call is over. Returns what the model is to read beside the result. */
  async complete(use: OwnToolUse, text: string, success: boolean): Promise<string | undefined> {
    const { call } = this.#own(use);
    this.#over(use.id);
    const { done } = this.#words(use);
    const result = success
      ? { success, pastTenseMessage: done, content: text === '' ? [] : [{ type: 'text' as const, text }] }
      : { success, pastTenseMessage: `${displayName(use.tool)} failed`, error: { message: text } };
    const outcome = await call.complete(result);
    if (outcome.kind !== 'completed' || !outcome.text.startsWith(text)) return undefined;
    return outcome.text.slice(text.length).trim() || undefined;
  }

  /** The model has a result of a call. Whatever never came to run, for bad input say, ends here. */
  async settle(id: string, text: string, success: boolean): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry?.kind === 'own') await this.complete({ id, tool: entry.tool, input: entry.input }, text, success);
    if (entry?.kind !== 'host') return;
    this.#over(id);
    await entry.call.fail(text);
  }

  #begun(tool: string): Entry {
    const name = this.#hostTools.nameOf(tool);
    // Ids of models may repeat, so the host makes up its own.
    if (name !== undefined) return { kind: 'host', call: this.#turn.beginCall({ name }) };
    const call = this.#turn.ownCall({ name: tool, displayName: displayName(tool) });
    return { kind: 'own', call, tool, input: undefined };
  }

  /** A sub-agent's calls are not seen while they are written. */
  #own({ id, tool }: OwnToolUse): Extract<Entry, { kind: 'own' }> {
    const entry = this.#entries.get(id) ?? this.#begun(tool);
    if (entry.kind !== 'own') throw new Error(`the call ${id} is not one of Claude's own tools`);
    this.#entries.set(id, entry);
    return entry;
  }

  #unlessDenied(id: string, permit: Permit): Permit {
    if (permit.kind === 'denied') this.#over(id);
    return permit;
  }

  #over(id: string): void {
    this.#entries.delete(id);
    this.#writing.delete(id);
  }

  #words({ tool, input }: OwnToolUse) {
    return callWords(tool, input, this.#folder);
  }
}
