/** The project's instructions: the files whose text goes into the prompt, for people to see. A method of our own. */
import type { URI } from '../common/types.js';

export const INSTRUCTIONS_METHOD = 'atrium/instructions';

export interface InstructionFile {
  readonly uri: URI;
  /** The name in the prompt. */
  readonly name: string;
  readonly bytes: number;
  /** It applies to files in its folder, because the agent has worked there. */
  readonly isNested?: boolean;
  /** Only its beginning is used, or nothing because there is no room. */
  readonly state?: 'cut' | 'left-out';
}

/** Reads a host's answer; empty for a host without this method. */
export function readInstructionFiles(answer: unknown): readonly InstructionFile[] {
  const items = (answer as { readonly items?: unknown } | undefined)?.items;
  return Array.isArray(items) ? items.filter(isFile) : [];
}

function isFile(value: unknown): value is InstructionFile {
  const file = value as Partial<InstructionFile> | null;
  return typeof file?.uri === 'string' && typeof file.name === 'string' && typeof file.bytes === 'number';
}
