/** Finds what is wrong with a script and tells its author: the file, the place, what was expected. */
import type { UsageInfo } from '@atrium/protocol';
import { checkAction } from '@atrium/protocol/validation';
import { isRecord, type Path, problemOf, type ShapeProblem } from '../../core/util/shape.js';
import type { Script, StepKind } from './script.js';
import { SCRIPT_SHAPE, STEP_SHAPES } from './script-shape.js';

export class ScriptError extends Error {
  override readonly name = 'ScriptError';
}

/** The sessions-v1 wire puts the provider into URIs. */
const PROVIDER_ID = /^[A-Za-z][A-Za-z0-9_.+-]*$/;
const STEP_KINDS = Object.keys(STEP_SHAPES) as StepKind[];

/** The script in a parsed JSON value; throws a `ScriptError` that names the file. */
export function checkScript(value: unknown, file: string): Script {
  const found = problemOf(SCRIPT_SHAPE, value) ?? problemOfProvider(value as Script) ?? problemOfSteps(value as Script);
  if (found) throw new ScriptError(`${file}: ${pathText(found.path)} ${found.problem}`);
  return value as Script;
}

function problemOfProvider({ provider }: Script): ShapeProblem | undefined {
  if (PROVIDER_ID.test(provider)) return undefined;
  const problem = `must be a letter, then letters, digits and any of _ . + -, but is ${JSON.stringify(provider)}`;
  return { path: ['provider'], problem };
}

function problemOfSteps(script: Script): ShapeProblem | undefined {
  const lists = Object.entries(script.prompts ?? {}).map(([text, steps]) => ({ path: ['prompts', text], steps }));
  for (const { path, steps } of [...lists, { path: ['default'], steps: script.default ?? [] }]) {
    for (const [index, step] of steps.entries()) {
      const problem = problemOfStep(step, [...path, index]);
      if (problem) return problem;
    }
  }
  return undefined;
}

function problemOfStep(step: unknown, path: Path): ShapeProblem | undefined {
  if (!isRecord(step)) return { path, problem: `must be an object. ${knownSteps()}` };
  const kinds = STEP_KINDS.filter((kind) => Object.hasOwn(step, kind));
  const [kind] = kinds;
  if (kinds.length > 1) return { path, problem: `is ${kinds.join(' and ')} in one; make it ${kinds.length} steps` };
  const known = kind ? Object.keys(STEP_SHAPES[kind].properties) : [];
  const unknown = Object.keys(step).find((key) => !known.includes(key));
  if (unknown !== undefined) return { path, problem: unknownKey(unknown, kind) };
  if (!kind) return { path, problem: `is empty. ${knownSteps()}` };
  return problemOf(STEP_SHAPES[kind], step, path) ?? problemOfContent(kind, step[kind], [...path, kind]);
}

function unknownKey(key: string, kind: StepKind | undefined): string {
  const where = kind ? ` beside "${kind}"` : '';
  return `has the unknown key ${JSON.stringify(key)}${where}. ${knownSteps()}`;
}

function knownSteps(): string {
  const names = STEP_KINDS.map((kind) => {
    const options = Object.keys(STEP_SHAPES[kind].properties).filter((key) => key !== kind);
    return options.length > 0 ? `${kind} (with ${options.join(', ')})` : kind;
  });
  return `A step is one of: ${names.join('; ')}.`;
}

/** What goes to clients as it stands must be what the protocol says. */
function problemOfContent(kind: StepKind, content: unknown, path: Path): ShapeProblem | undefined {
  if (kind === 'ask' && isRecord(content)) {
    return problemOfAction({ type: 'session/inputRequested', request: { id: 'made-up', ...content } }, path);
  }
  if (kind === 'usage') {
    return problemOfAction({ type: 'session/usage', turnId: 'any', usage: content as UsageInfo }, path);
  }
  return undefined;
}

function problemOfAction(action: unknown, path: Path): ShapeProblem | undefined {
  const checked = checkAction(action);
  if (checked.ok) return undefined;
  // The pointer begins with the action's own member: `/request/questions/0/kind`.
  const inner = checked.problem.path.split('/').slice(2).map(pointerPart);
  return { path: [...path, ...inner], problem: `must be ${checked.problem.expected}` };
}

function pointerPart(part: string): string | number {
  return /^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** `prompts["hello there"][2].tool.name` */
function pathText(path: Path): string {
  if (path.length === 0) return 'the script';
  const parts = path.map((part) => {
    if (typeof part === 'number') return `[${part}]`;
    return /^[A-Za-z_]\w*$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`;
  });
  return parts.join('').replace(/^\./, '');
}
