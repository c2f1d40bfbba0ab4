/** What a project asks of agents: the files whose text goes into the prompt, for people to see. A method of our own. */
import type { URI } from '../common/types.js';

export const INSTRUCTIONS_METHOD = 'atrium/instructions';

export interface InstructionFile {
  readonly uri: URI;
  /** As the prompt calls it. */
  readonly name: string;
  readonly bytes: number;
  /** It counts for the files of its folder, because the agent has worked there. */
  readonly isNested?: boolean;
  /** Only its beginning is read, or nothing of it for want of room. */
  readonly state?: 'cut' | 'left-out';
}

/** What a host answers; nothing for another one. */
export function readInstructionFiles(answer: unknown): readonly InstructionFile[] {
  const items = (answer as { readonly items?: unknown } | undefined)?.items;
  return Array.isArray(items) ? items.filter(isFile) : [];
}

function isFile(value: unknown): value is InstructionFile {
  const file = value as Partial<InstructionFile> | null;
  return typeof file?.uri === 'string' && typeof file.name === 'string' && typeof file.bytes === 'number';
}
