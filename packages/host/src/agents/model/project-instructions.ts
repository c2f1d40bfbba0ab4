/** What a project asks of agents, in a file that it keeps for them. Text only: nothing in it is run. */
import { stat } from 'node:fs/promises';
import { resolveInside } from '../../core/util/paths.js';
import { readLines } from '../../core/util/read-lines.js';
import { sizeText } from '../../core/util/text.js';
import { PROJECT_INSTRUCTIONS_MAX_BYTES } from './limits.js';

/** The first one that is there counts. */
export const PROJECT_INSTRUCTION_FILES = ['AGENTS.md', 'CLAUDE.md', '.github/copilot-instructions.md'] as const;

/** Empty when there are none. */
export async function projectInstructions(folder: string | undefined, signal: AbortSignal): Promise<string> {
  if (folder === undefined) return '';
  for (const name of PROJECT_INSTRUCTION_FILES) {
    const text = await read(folder, name, signal).catch(() => '');
    if (text !== '') return `Instructions of this project, from ${name}:\n\n${text}`;
  }
  return '';
}

/** A link out of the folder is not followed: a project must not show the model other files of the machine. */
async function read(folder: string, name: string, signal: AbortSignal): Promise<string> {
  const { real } = await resolveInside(folder, name);
  if (!(await stat(real)).isFile()) return '';
  const range = { first: 1, last: Number.MAX_SAFE_INTEGER, maxBytes: PROJECT_INSTRUCTIONS_MAX_BYTES };
  const lines = await readLines(real, range, signal);
  if (lines.kind === 'binary') return '';
  const rest = lines.cut ? `\n[Cut after ${sizeText(PROJECT_INSTRUCTIONS_MAX_BYTES)}; read ${name} for the rest.]` : '';
  return `${lines.text.trim()}${rest}`;
}
