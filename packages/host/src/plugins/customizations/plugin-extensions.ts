/** Turns customizations into extensions of their session: their additions to its prompt, its tools and its gates. */
import path from 'node:path';
import type { Extension, RenderFacts, TurnAdvice } from '@atrium/core/contracts/extension.js';
import { type Glob, glob } from '@atrium/core/util/glob.js';
import type { AgentSelection } from '@atrium/protocol/ahp-1';
import type { RulePart } from '../formats/markdown-parts.js';
import type { ServerSource } from '../formats/source.js';
import type { Container } from './container.js';
import { agentGate, agentPrompt, selectedAgent, usableBy } from './custom-agent.js';
import {
  expanded,
  findInvocable,
  type Invocable,
  invocablesOf,
  listing,
  skillTool,
  type TypedCommand,
  typedCommand,
  USE_SKILL,
} from './invocables.js';
import type { Hooks } from './plugin-hooks.js';
import type { AgentFacts, HostSession } from './ports.js';
import type { SessionServers } from './session-servers.js';

export interface ContainerExtensionOptions {
  /** The session's folder. */
  readonly folder: string | undefined;
  readonly hooks: Hooks;
  readonly servers: SessionServers;
}

/** One container: its rules, its hooks, and the tools of its MCP servers. */
export function containerExtension(container: Container, options: ContainerExtensionOptions): Extension {
  const { folder, hooks, servers } = options;
  return {
    id: container.id,
    get name() {
      return container.name;
    },
    get tools() {
      return servers.toolsOf(container.id);
    },
    get gates() {
      return hooks.gates;
    },
    prompt: {
      rules: (facts) => appliedRules(container.parts?.rules ?? [], facts, folder).map(({ body }) => body.trim()),
    },
    beforeTurn: (opening, signal) => hooks.beforeTurn(opening, signal),
    beforeEnd: (ending, signal) => hooks.beforeEnd(ending, signal),
    beforeWorker: (worker, signal) => hooks.beforeWorker(worker, signal),
    beforeWorkerEnd: (ending, signal) => hooks.beforeWorkerEnd(ending, signal),
    afterCall: (call, outcome, signal) => hooks.afterCall(call, outcome, signal),
  };
}

/** A server outside of any container contributes only its tools. */
export function bareExtension({ id, name }: ServerSource, servers: SessionServers): Extension {
  return {
    id,
    name,
    get tools() {
      return servers.toolsOf(id);
    },
  };
}

export interface SharedOptions {
  readonly session: HostSession;
  readonly agent: AgentFacts | undefined;
  /** The session's folder. */
  readonly folder: string | undefined;
  readonly servers: SessionServers;
  /** The containers that are switched on now. */
  containers(): readonly Container[];
  /** A note for people about the model of the selected agent. */
  modelNote(): string | undefined;
}

/** The common contributions of all containers of a session: skills by name, and the selected agent. */
export function sharedExtension(options: SharedOptions): Extension {
  const { session, agent: facts, folder, servers, containers, modelNote } = options;
  const invocables = () => containers().flatMap(invocablesOf);
  const agent = (chat: string) => selectedAgent(containers(), agentOf(session, chat));
  const tool = skillTool(invocables);
  const toolNames = () => toolNamesOf(session, facts);
  return {
    id: 'host:customizations',
    name: 'customizations',
    get tools() {
      return invocables().some(({ forModel }) => forModel) ? [tool] : [];
    },
    gates: [agentGate(agent, toolNames)],
    hidden: (chat) => {
      const isUsable = usableBy(agent(chat), toolNames);
      return (toolName) => !isUsable(toolName);
    },
    prompt: { rules: (facts) => [...agentRules(containers(), facts), ...offers(containers(), facts, folder)] },
    beforeTurn: async (opening, signal) => {
      const note = modelNote();
      const typed = opening.isLiteral ? undefined : typedCommand(opening.text);
      const advice = typed && (typedAdvice(invocables(), typed) ?? (await servers.promptAdvice(typed, signal)));
      return { ...advice, ...(note !== undefined && { note }) };
    },
  };
}

/** A turn uses the agent of its message. */
function agentOf(session: HostSession, chat: string): AgentSelection | undefined {
  const activeTurn = session.chatAt(chat)?.state.activeTurn;
  return activeTurn ? activeTurn.message.agent : session.selection.agent;
}

/** Everything that the session's agent could call: tools of the host, of extensions, of active clients, and its own. */
function toolNamesOf({ extensions, state }: HostSession, agent: AgentFacts | undefined): readonly string[] {
  const hosts = extensions.tools().map(({ definition }) => definition.name);
  const clients = state.activeClients.flatMap(({ tools }) => tools).map(({ name }) => name);
  return [...hosts, ...clients, ...(agent?.ownToolNames?.() ?? [])];
}

function agentRules(containers: readonly Container[], { agent }: RenderFacts): readonly string[] {
  const selected = selectedAgent(containers, agent);
  return selected ? [agentPrompt(selected)] : [];
}

/** Skills and rules that the model may ask for, by name. */
function offers(containers: readonly Container[], facts: RenderFacts, folder: string | undefined): readonly string[] {
  const all = containers.flatMap(invocablesOf);
  const skills = all.filter(({ kind, forModel }) => kind === 'skill' && forModel);
  const inPlay = new Set(
    containers.flatMap((container) =>
      offeredRules(container.parts?.rules ?? [], facts, folder).map(({ name }) => container.prefix + name),
    ),
  );
  const rules = all.filter(({ kind, name }) => kind === 'rule' && inPlay.has(name));
  return [
    ...block(`Skills. When one fits the task, read it with the tool ${USE_SKILL} first:`, skills),
    ...block(`Further rules. When one concerns your work, read it with the tool ${USE_SKILL}:`, rules),
  ];
}

function block(title: string, invocables: readonly Invocable[]): readonly string[] {
  return invocables.length > 0 ? [[title, ...listing(invocables)].join('\n')] : [];
}

/** For `/name arguments`, the model gets the expanded text while people see what was typed. */
function typedAdvice(all: readonly Invocable[], typed: TypedCommand): TurnAdvice | undefined {
  const forPeople = all.filter(({ forPerson }) => forPerson);
  const found = findInvocable(forPeople, typed.name);
  if (!found) return undefined;
  return { context: `The person used the ${found.kind} "${found.name}":\n\n${expanded(found, typed.args)}` };
}

/** The rules whose text goes into this prompt: always, or because certain files are involved. */
function appliedRules(rules: readonly RulePart[], facts: RenderFacts, folder: string | undefined): readonly RulePart[] {
  return rules.filter((rule) => rule.alwaysApply && (rule.globs.length === 0 || isInPlay(rule, facts, folder)));
}

/** The rules that the prompt only names; the model or a person decides whether to read them. */
function offeredRules(rules: readonly RulePart[], facts: RenderFacts, folder: string | undefined): readonly RulePart[] {
  return rules.filter((rule) => !rule.alwaysApply && (rule.globs.length === 0 || isInPlay(rule, facts, folder)));
}

const compiled = new WeakMap<RulePart, readonly Glob[]>();

function isInPlay(rule: RulePart, { files }: RenderFacts, folder: string | undefined): boolean {
  const globs = compiled.get(rule) ?? rule.globs.map(glob);
  compiled.set(rule, globs);
  return files.some((file) => {
    const shown = relativePath(file, folder);
    return globs.some((fits) => fits(shown));
  });
}

/** A path as globs see it: relative to the session's folder, with forward slashes. Paths outside stay absolute. */
function relativePath(file: string, folder: string | undefined): string {
  const relative = folder !== undefined && path.isAbsolute(file) ? path.relative(folder, file) : file;
  const isOutside = relative.startsWith('..') || path.isAbsolute(relative);
  return (isOutside ? file : path.normalize(relative)).split(path.sep).join('/');
}
