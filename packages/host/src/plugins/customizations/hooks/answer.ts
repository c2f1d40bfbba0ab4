/** What a hook said: by its exit code, and by what it printed. The convention is Claude's, which others follow. */
import { isRecord } from '../../../core/util/shape.js';

export interface HookRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface HookAnswer {
  readonly decision: 'none' | 'ask' | 'deny';
  /** It wants all work to end (`continue: false`): where others would be sent on, that is no objection. */
  readonly isHalt?: boolean;
  /** Empty when it gave none. */
  readonly reason: string;
  /** For the model, said in so many words. */
  readonly context?: string;
  /** What it printed, if that is nothing but text. */
  readonly text?: string;
}

/** The exit code that objects. */
export const EXIT_BLOCK = 2;

const NOTHING: HookAnswer = { decision: 'none', reason: '' };

/** Undefined when it failed: then it has not decided anything. */
export function answerOf({ code, stdout, stderr }: HookRun): HookAnswer | undefined {
  if (code === EXIT_BLOCK) return { decision: 'deny', reason: stderr.trim() };
  if (code !== 0) return undefined;
  const text = stdout.trim();
  if (text === '') return NOTHING;
  const printed = jsonIn(text);
  return printed ? printedAnswer(printed) : { ...NOTHING, text };
}

type Printed = Readonly<Record<string, unknown>>;

function jsonIn(text: string): Printed | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Some write the decision inside of `hookSpecificOutput`, some beside it. */
function printedAnswer(printed: Printed): HookAnswer {
  const specific = isRecord(printed.hookSpecificOutput) ? printed.hookSpecificOutput : {};
  const said = { ...printed, ...specific };
  const context = firstText(said.additionalContext);
  const reason = firstText(said.permissionDecisionReason, said.reason, said.stopReason) ?? '';
  const isHalt = said.continue === false;
  return { decision: decisionIn(said), ...(isHalt && { isHalt }), reason, ...(context !== undefined && { context }) };
}

function decisionIn({ permissionDecision, decision, continue: goesOn }: Printed): HookAnswer['decision'] {
  const decided = permissionDecision ?? decision;
  if (decided === 'deny' || decided === 'block' || goesOn === false) return 'deny';
  // That a hook allows a call is no objection, and no permission either.
  return decided === 'ask' ? 'ask' : 'none';
}

function firstText(...values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value.trim() !== '');
}
