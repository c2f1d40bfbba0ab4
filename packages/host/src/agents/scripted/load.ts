/** Reads scripts from files. */
import { readFile } from 'node:fs/promises';
import type { AgentBackend } from '../../core/contracts/agent.js';
import { checkScript, ScriptError } from './check-script.js';
import type { Script } from './script.js';
import { type ScriptedAgentOptions, scriptedAgent } from './scripted.js';

/** The agents of some script files, in their order; throws a `ScriptError` for the first file that is not right. */
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
    throw new ScriptError(`${file}: ${missing ? 'there is no such file' : `cannot be read: ${messageOf(error)}`}`);
  }
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ScriptError(`${file}: is not JSON: ${messageOf(error)}`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
