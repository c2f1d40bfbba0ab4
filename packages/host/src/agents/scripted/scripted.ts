/**
 * An agent that plays a script: the same messages get the same answers, with no model and no key. For tests of clients
 * and for demonstrations.
 */
import type { AgentInfo } from '@atrium/protocol';
import { type AgentBackend, AgentError, type AgentSession } from '../../core/contracts/agent.js';
import { type Clock, systemClock } from '../../core/util/clock.js';
import { sectionCatalogue } from '../shared/agent-info.js';
import { play } from './play.js';
import type { Script, Step } from './script.js';

export interface ScriptedAgentOptions {
  readonly clock?: Clock;
}

export function scriptedAgent(script: Script, { clock = systemClock }: ScriptedAgentOptions = {}): AgentBackend {
  const sections = script.sections ?? {};
  return {
    info: infoOf(script, sections),
    abilities: {
      tools: 'live',
      toolIntent: 'all',
      render: Object.keys(sections).length > 0 ? 'sections' : 'none',
      steer: true,
      cancelTool: true,
    },
    sections,
    async open() {
      if (script.createError) throw new AgentError(script.createError.errorType, script.createError.message);
      return sessionOf(script, clock);
    },
  };
}

function infoOf(script: Script, sections: Readonly<Record<string, string>>): AgentInfo {
  const { provider, displayName } = script;
  const models = (script.models ?? []).map(({ id, name }) => ({ id, provider, name }));
  const info = { provider, displayName, description: 'Plays a script. There is no model behind it.', models };
  return script.sections ? { ...info, systemMessageSections: sectionCatalogue(Object.keys(sections)) } : info;
}

function sessionOf(script: Script, clock: Clock): AgentSession {
  return {
    runTurn: (turn) => play(stepsFor(script, turn.message.text), turn, clock),
    async close() {},
  };
}

function stepsFor(script: Script, text: string): readonly Step[] {
  const { prompts = {} } = script;
  const steps = Object.hasOwn(prompts, text) ? prompts[text] : script.default;
  if (steps) return steps;
  const known = Object.keys(prompts).map((prompt) => JSON.stringify(prompt));
  const knows = known.join(', ') || 'none';
  throw new AgentError('script', `The script has no "default" and no steps for this text. It knows: ${knows}.`);
}
