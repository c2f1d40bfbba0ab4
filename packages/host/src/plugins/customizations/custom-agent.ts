/** The custom agent of a session: its text in the prompt, the tools that it may use, the model that it asks for. */

import type { Gate } from '@atrium/core/contracts/extension.js';
import type { SessionStep } from '@atrium/core/sessions/session-observer.js';
import { type AgentInfo, type AgentSelection, type ModelSelection, privateMembersOf } from '@atrium/protocol/ahp-1';
import type { AgentPart } from '../formats/markdown-parts.js';
import type { Container } from './container.js';
import { USE_SKILL } from './invocables.js';
import type { HostSession, SessionFacts } from './ports.js';
import { toolAliases } from './tool-aliases.js';

/** `containers`: those that are switched on. */
export function selectedAgent(
  containers: readonly Container[],
  selection: AgentSelection | undefined,
): AgentPart | undefined {
  if (!selection) return undefined;
  const agents = containers.flatMap(({ parts }) => parts?.agents ?? []);
  return agents.find(({ uri }) => uri === selection.uri);
}

export function agentPrompt({ name, prompt }: AgentPart): string {
  return `You work as the agent "${name}".\n\n${prompt.trim()}`;
}

/** Refuses tools that the agent's file does not name, because a model may call a tool that it was never offered. */
export function agentGate(agent: (chat: string) => AgentPart | undefined, tools: () => readonly string[]): Gate {
  return {
    name: 'The selected agent',
    isStatic: true,
    concerns: ({ toolName, chat }) => !usableBy(agent(chat), tools)(toolName),
    check: ({ toolName, chat }) => ({ kind: 'deny', reason: `"${agent(chat)?.name}" does not use ${toolName}` }),
  };
}

/**
 * Whether an agent uses a tool. A list that names none of `all` was written for another host; this host ignores it,
 * because otherwise the agent would have no tools left.
 */
export function usableBy(agent: AgentPart | undefined, all: () => readonly string[]): (toolName: string) => boolean {
  const { tools } = agent ?? {};
  if (!tools || tools.includes('*')) return () => true;
  const named = new Set(tools.flatMap((name) => [name, ...toolAliases(name)]));
  if (!all().some((name) => named.has(name))) return () => true;
  return (toolName) => toolName === USE_SKILL || named.has(toolName);
}

/** The model of the session before an agent brought its own. Kept only until a person chooses a model. */
interface Before {
  /** Absent when no model had been chosen. */
  readonly model?: ModelSelection;
}

/** In agent files, this means the model that is chosen anyway. */
const INHERIT = 'inherit';

/**
 * The model that a custom agent asks for. Selecting the agent also selects its model, visibly: the session's model
 * changes, and changes back when the agent is deselected. A person who chooses a model together with the agent, or
 * later, has the last word. `selected` is the selected custom agent, once its file has been read.
 */
export class AgentModel {
  readonly #session: HostSession;
  readonly #facts: Pick<SessionFacts, 'agent' | 'modelBefore'>;
  /** The agent was selected, and no person has chosen a model since. */
  #isDue: boolean;
  #before: Before | undefined;
  /** The stored model has been read, or no longer counts. */
  #isLoaded = false;
  /** The agent about whose model people have been told. */
  #reportedAgent: string | undefined;

  constructor(session: HostSession, facts: Pick<SessionFacts, 'agent' | 'modelBefore'>) {
    this.#session = session;
    this.#facts = facts;
    const { agent, model } = session.selection;
    this.#isDue = agent !== undefined && model === undefined;
  }

  /** Restores its state after the session was loaded. */
  async load(): Promise<void> {
    const stored = await this.#facts.modelBefore.load();
    // A person may have chosen a model meanwhile.
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    this.#before = stored;
  }

  observe({ action, origin }: SessionStep, selected: AgentPart | undefined): void {
    const chosen = privateMembersOf(action).selected ?? {};
    // Only actions of clients have an origin.
    if ('model' in chosen && origin) {
      this.#isDue = false;
      this.#keep(undefined);
    }
    if (!('agent' in chosen)) return;
    this.#isDue = chosen.agent !== null;
    this.#reportedAgent = undefined;
    this.update(selected);
  }

  /** Writes the model that should be selected now. The agent's file may be read only after the agent was selected. */
  update(selected: AgentPart | undefined): void {
    const { agent: selection, model } = this.#session.selection;
    if (!selection) return this.#restore();
    const agent = this.#isDue ? selected : undefined;
    if (!agent) return;
    this.#isDue = false;
    const id = this.#idFor(agent);
    if (id === undefined) return this.#restore();
    if (id === model?.id) return;
    this.#keep(this.#before ?? { ...(model && { model }) });
    this.#session.select({ model: { id } });
  }

  /** An agent with its own model was deselected. If no model had been chosen before, the first one is the default. */
  #restore(): void {
    if (!this.#before) return;
    const [first] = this.#facts.agent?.info.models ?? [];
    const model = this.#before.model ?? (first && { id: first.id });
    this.#keep(undefined);
    if (!model || model.id === this.#session.selection.model?.id) return;
    this.#session.select({ model });
  }

  #keep(before: Before | undefined): void {
    if (this.#isLoaded && before === this.#before) return;
    this.#isLoaded = true;
    this.#before = before;
    this.#facts.modelBefore.save(before);
  }

  /** A note for people about the model of the selected agent, once per agent. */
  takeNote(selected: AgentPart | undefined): string | undefined {
    if (!selected || selected.uri === this.#reportedAgent) return undefined;
    this.#reportedAgent = selected.uri;
    const { name, model = INHERIT } = selected;
    if (model === INHERIT || this.#idFor(selected) !== undefined) return undefined;
    const { displayName = 'The agent' } = this.#facts.agent?.info ?? {};
    return `"${name}" asks for the model ${model}, which ${displayName} does not list; it works with another one.`;
  }

  #idFor({ model = INHERIT }: AgentPart): string | undefined {
    return model === INHERIT ? undefined : modelNamed(model, this.#facts.agent?.info.models ?? []);
  }
}

type Models = AgentInfo['models'];

/** Finds a model by its id or name. A word that occurs in either is enough, so that "opus" finds "claude-opus-5". */
export function modelNamed(wanted: string, models: Models): string | undefined {
  // "GPT-5 (copilot)" also names the vendor.
  const name = wanted.replace(/\s*\([^()]*\)$/, '').toLowerCase();
  const isSame = (text: string) => text.toLowerCase() === name;
  const hasWord = (text: string) =>
    text
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .includes(name);
  const found =
    models.find(({ id }) => id === wanted) ??
    models.find((model) => isSame(model.id) || isSame(model.name)) ??
    models.find((model) => hasWord(model.id) || hasWord(model.name));
  return found?.id;
}
