/** What all containers of a session have in common there: skills by name, and the selected agent. */
import type { Extension, RenderFacts, TurnAdvice, TurnOpening } from '../../../core/contracts/extension.js';
import type { Session } from '../../../core/sessions/session.js';
import type { Container } from '../container.js';
import { agentGate, agentWords, selectedAgent, usableBy } from './agents.js';
import { expanded, findInvocable, type Invocable, invocablesOf, typedCommand } from './invocable.js';
import { offeredRules } from './rules.js';
import { listing, skillTool, USE_SKILL } from './skill-tool.js';

export interface SharedParts {
  readonly session: Session;
  readonly folder: string | undefined;
  /** Those that are switched on. */
  containers(): readonly Container[];
  /** What people should know about the model of the selected agent. */
  modelNote(): string | undefined;
}

export function sharedExtension({ session, folder, containers, modelNote }: SharedParts): Extension {
  const invocables = () => containers().flatMap(invocablesOf);
  const agent = () => selectedAgent(containers(), session.state.summary.agent);
  const tool = skillTool(invocables);
  const toolNames = () => toolNamesOf(session);
  return {
    id: 'host:customizations',
    name: 'customizations',
    get tools() {
      return invocables().some(({ forModel }) => forModel) ? [tool] : [];
    },
    gates: [agentGate(agent, toolNames)],
    hidden: () => {
      const isUsable = usableBy(agent(), toolNames);
      return (toolName) => !isUsable(toolName);
    },
    prompt: { rules: (facts) => [...agentRules(containers(), facts), ...offers(containers(), facts, folder)] },
    beforeTurn: async (opening) => {
      const note = modelNote();
      return { ...typedAdvice(invocables(), opening), ...(note !== undefined && { note }) };
    },
  };
}

/** All that an agent could call here: tools of the host, of extensions, of the active client, and its own. */
function toolNamesOf({ extensions, state, parts }: Session): readonly string[] {
  const hosts = extensions.tools().map(({ definition }) => definition.name);
  const clients = (state.activeClient?.tools ?? []).map(({ name }) => name);
  return [...hosts, ...clients, ...(parts.backend?.ownToolNames?.() ?? [])];
}

function agentRules(containers: readonly Container[], { agent }: RenderFacts): readonly string[] {
  const selected = selectedAgent(containers, agent);
  return selected ? [agentWords(selected)] : [];
}

/** Skills and rules that the model may ask for, by name. */
function offers(containers: readonly Container[], facts: RenderFacts, folder: string | undefined): readonly string[] {
  const all = containers.flatMap(invocablesOf);
  const skills = all.filter(({ kind, forModel }) => kind === 'skill' && forModel);
  const inPlay = new Set(
    containers.flatMap((container) =>
      offeredRules(container.loaded?.rules ?? [], facts, folder).map(({ name }) => container.prefix + name),
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

/** `/name arguments`: the model gets the text, people keep seeing what was typed. */
function typedAdvice(all: readonly Invocable[], { text }: TurnOpening): TurnAdvice | undefined {
  const typed = typedCommand(text);
  const found =
    typed &&
    findInvocable(
      all.filter(({ forPerson }) => forPerson),
      typed.name,
    );
  if (!typed || !found) return undefined;
  return { context: `The person used the ${found.kind} "${found.name}":\n\n${expanded(found, typed.args)}` };
}
