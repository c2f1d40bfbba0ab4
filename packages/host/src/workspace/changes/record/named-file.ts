/** The file that a call will change, where its tool names it: then nothing else has to be looked at. */
import type { GateCall } from '../../../core/contracts/extension.js';
import { isRecord } from '../../../core/util/shape.js';
import { type BytePath, fromText } from '../../git/byte-path.js';
import { resolveTarget } from '../../tools/write-target.js';

export interface NamedFile {
  readonly root: string;
  readonly path: BytePath;
}

/** Tools of the host that change the one file that they name. */
const NAMES_ITS_FILE: ReadonlySet<string> = new Set(['write_file', 'edit_file']);

/** Undefined when it names none, or one that cannot be: the tool will say what is wrong with the path. */
export async function namedFile(
  { toolName, owner, input, workingDirectory }: GateCall,
  rootOf: () => Promise<string | undefined>,
): Promise<NamedFile | undefined> {
  if (owner !== undefined || !NAMES_ITS_FILE.has(toolName) || !isRecord(input)) return undefined;
  const root = await rootOf();
  const target = await resolveTarget(workingDirectory, String(input.path)).catch(() => undefined);
  return root !== undefined && target ? { root, path: fromText(target.shown) } : undefined;
}
