/**
 * An agent that plays a script: the same messages get the same answers, with no model and no key. For tests of clients
 * and for demonstrations. `docs/scripted-agent.md` tells how to write a script.
 */

import { readFile } from 'node:fs/promises';
import { type AgentBackend, AgentError, type AgentSession } from '@atrium/core/contracts/agent.js';
import { type Clock, systemClock } from '@atrium/core/util/clock.js';
import { errorText } from '@atrium/core/util/text.js';
import type { AgentInfo } from '@atrium/protocol/ahp-1';
import { SEVERAL_CHATS, sectionCatalogue } from '../shared/agent-info.js';
import { playScript } from './play.js';
import { checkScript, type Script, ScriptError, type Step } from './script.js';

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
  const description = 'Plays a script. There is no model behind it.';
  const info = { provider, displayName, description, models, capabilities: { multipleChats: SEVERAL_CHATS } };
  return script.sections ? { ...info, systemMessageSections: sectionCatalogue(Object.keys(sections)) } : info;
}

function sessionOf(script: Script, clock: Clock): AgentSession {
  return {
    runTurn: (turn) => playScript(stepsFor(script, turn.message.text), turn, clock),
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

/** Reads one agent from each file, in order. Throws a `ScriptError` for the first file with a mistake. */
export async function loadScripts(files: readonly string[], options?: ScriptedAgentOptions): Promise<AgentBackend[]> {
  const scripts = await Promise.all(files.map(readScript));
  const owners = new Map<string, string>();
  for (const [index, { provider }] of scripts.entries()) {
    const file = files[index] ?? '';
    const owner = owners.get(provider);
    if (owner !== undefined) throw new ScriptError(`${file}: provider "${provider}" is already that of ${owner}`);
    owners.set(provider, file);
  }
  return scripts.map((script) => scriptedAgent(script, options));
}

async function readScript(file: string): Promise<Script> {
  return checkScript(parse(await textOf(file), file), file);
}

async function textOf(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw new ScriptError(`${file}: ${missing ? 'there is no such file' : `cannot be read: ${errorText(error)}`}`);
  }
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ScriptError(`${file}: is not JSON: ${errorText(error)}`);
  }
}
