/** The custom agent that a session works as: its words, and the tools that it may use. */

import type { AgentInfo, AgentSelection, ModelSelection, SessionState } from '@atrium/protocol';
import type { Step } from '../../core/channels/channel.js';
import type { Gate } from '../../core/contracts/extension.js';
import type { Session } from '../../core/sessions/session.js';
import type { Container } from './container.js';
import { USE_SKILL } from './invocables.js';
import type { AgentPart } from './parse/markdown-parts.js';
import { toolAliases } from './tool-aliases.js';

/** Of the containers that are switched on. */
export function selectedAgent(
  containers: readonly Container[],
  selection: AgentSelection | undefined,
): AgentPart | undefined {
  if (!selection) return undefined;
  const agents = containers.flatMap(({ loaded }) => loaded?.agents ?? []);
  return agents.find(({ uri }) => uri === selection.uri);
}

export function agentWords({ name, prompt }: AgentPart): string {
  return `You work as the agent "${name}".\n\n${prompt.trim()}`;
}

/** Refuses tools that the agent's file does not name: a model may call what it was never told of. */
export function agentGate(agent: () => AgentPart | undefined, tools: () => readonly string[]): Gate {
  return {
    name: 'The selected agent',
    isStatic: true,
    concerns: ({ toolName }) => !usableBy(agent(), tools)(toolName),
    check: ({ toolName }) => ({ kind: 'deny', reason: `"${agent()?.name}" does not use ${toolName}` }),
  };
}

/**
 * Whether an agent works with a tool. A list that names none of `all` was written for another host; it would leave the
 * agent with nothing, so it does not count.
 */
export function usableBy(agent: AgentPart | undefined, all: () => readonly string[]): (toolName: string) => boolean {
  const { tools } = agent ?? {};
  if (!tools || tools.includes('*')) return () => true;
  const named = new Set(tools.flatMap((name) => [name, ...toolAliases(name)]));
  if (!all().some((name) => named.has(name))) return () => true;
  return (toolName) => toolName === USE_SKILL || named.has(toolName);
}

/**
 * The model that a custom agent asks for. To choose the agent is to choose its model too, in plain sight: the session's
 * model changes, and changes back when the agent is left. Whoever chooses a model together with the agent, or after it,
 * has the last word.
 */

export interface AgentModelParts {
  readonly session: Session;
  /** The custom agent that is selected, once its file has been read. */
  selected(): AgentPart | undefined;
}

/** What the session worked with before an agent brought its own model; nobody has chosen one since. */
interface Before {
  /** Absent when nobody had chosen any. */
  readonly model?: ModelSelection;
}

/** What agent files say for "the model that is chosen anyway". */
const INHERIT = 'inherit';

export class AgentModel {
  readonly #parts: AgentModelParts;
  /** The agent was chosen, and nobody has chosen a model since. */
  #isDue: boolean;
  #before: Before | undefined;
  /** What is noted of an earlier time has been read, or does not count any more. */
  #isLoaded = false;
  /** The agent about whose model people have been told. */
  #toldOf: string | undefined;

  constructor(parts: AgentModelParts) {
    this.#parts = parts;
    const { agent, model } = parts.session.state.summary;
    this.#isDue = agent !== undefined && model === undefined;
  }

  /** What was before, when the session has left memory meanwhile. */
  async load(): Promise<void> {
    const { uri, parts } = this.#parts.session;
    const kept = await parts.notes.modelBefore(uri);
    // A person may have chosen a model meanwhile.
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    if (kept !== undefined) this.#before = JSON.parse(kept);
  }

  observe({ envelope: { action, origin } }: Step<SessionState>): void {
    // Only what clients do has an origin.
    if (action.type === 'session/modelChanged' && origin) {
      this.#isDue = false;
      this.#keep(undefined);
    }
    if (action.type !== 'session/agentChanged') return;
    this.#isDue = action.agent !== undefined;
    this.#toldOf = undefined;
    this.look();
  }

  /** The agent's file may have been read only after the agent was chosen. */
  look(): void {
    const { session } = this.#parts;
    const { agent: selection, model } = session.state.summary;
    if (!selection) return this.#bringBack();
    const agent = this.#isDue ? this.#parts.selected() : undefined;
    if (!agent) return;
    this.#isDue = false;
    const id = this.#idFor(agent);
    if (id === undefined) return this.#bringBack();
    if (id === model?.id) return;
    this.#keep(this.#before ?? { ...(model && { model }) });
    session.write({ type: 'session/modelChanged', model: { id } });
  }

  /** An agent with a model of its own was left. Where nobody had chosen any before, the first one is the default. */
  #bringBack(): void {
    if (!this.#before) return;
    const { session } = this.#parts;
    const [first] = session.parts.backend?.info.models ?? [];
    const model = this.#before.model ?? (first && { id: first.id });
    this.#keep(undefined);
    if (model && model.id !== session.state.summary.model?.id) session.write({ type: 'session/modelChanged', model });
  }

  #keep(before: Before | undefined): void {
    if (this.#isLoaded && before === this.#before) return;
    this.#isLoaded = true;
    this.#before = before;
    const { uri, parts } = this.#parts.session;
    parts.notes.setModelBefore(uri, before && JSON.stringify(before));
  }

  /** What people should know about the model of the selected agent, once. */
  takeNote(): string | undefined {
    const agent = this.#parts.selected();
    if (!agent || agent.uri === this.#toldOf) return undefined;
    this.#toldOf = agent.uri;
    const { name, model = INHERIT } = agent;
    if (model === INHERIT || this.#idFor(agent) !== undefined) return undefined;
    const { displayName = 'The agent' } = this.#parts.session.parts.backend?.info ?? {};
    return `"${name}" asks for the model ${model}, which ${displayName} does not list; it works with another one.`;
  }

  #idFor({ model = INHERIT }: AgentPart): string | undefined {
    return model === INHERIT ? undefined : modelNamed(model, this.#parts.session.parts.backend?.info.models ?? []);
  }
}

type Models = AgentInfo['models'];

/** By its id or its name; one word is enough where it stands in either, so that "opus" finds "claude-opus-5". */
export function modelNamed(wanted: string, models: Models): string | undefined {
  // "GPT-5 (copilot)" names the vendor as well.
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
