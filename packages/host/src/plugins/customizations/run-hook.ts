/** Runs one hook as a process, with the event as JSON on its input, and reads its answer. The convention is Claude's. */
import { tmpdir } from 'node:os';
import { childEnvironment } from '../../core/util/child-environment.js';
import type { Clock } from '../../core/util/clock.js';
import type { Logger } from '../../core/util/logger.js';
import { type ProcessEnd, runProcess } from '../../core/util/run-process.js';
import { isRecord } from '../../core/util/shape.js';
import { Tail } from '../../core/util/tail.js';
import { HOOK_GRACE_MS, HOOK_OUTPUT_MAX_BYTES, HOOK_TIMEOUT_MS } from './limits.js';
import type { HookCommand } from './parse/hooks.js';

export interface HookPlace {
  /** Whose hook it is, in words for people. */
  readonly name: string;
  /** The session's folder. */
  readonly folder: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Undefined when it failed. A hook that fails decides nothing, and the host says so in its log. */
export async function runHook(
  action: HookCommand,
  event: Readonly<Record<string, unknown>>,
  { name, folder, env, clock, logger, signal }: HookPlace & { readonly signal: AbortSignal },
): Promise<HookAnswer | undefined> {
  const streams = { stdout: new Tail(HOOK_OUTPUT_MAX_BYTES), stderr: new Tail(HOOK_OUTPUT_MAX_BYTES) };
  const end = await runProcess({
    ...commandOf(action),
    cwd: action.cwd ?? folder ?? tmpdir(),
    env: { ...childEnvironment(env), ...(folder !== undefined && { CLAUDE_PROJECT_DIR: folder }), ...action.env },
    input: `${JSON.stringify(event)}\n`,
    ...{ signal, clock, graceMs: HOOK_GRACE_MS, timeoutMs: action.timeoutMs ?? HOOK_TIMEOUT_MS },
    output: (text, stream) => streams[stream].push(text),
  });
  const printed = { stdout: streams.stdout.text(), stderr: streams.stderr.text() };
  const answer = end.kind === 'exited' ? answerOf({ code: end.code, ...printed }) : undefined;
  if (!answer && end.kind !== 'cancelled') {
    const error = [wordsOf(end), printed.stderr.trim()].filter(Boolean).join(': ');
    logger.log('warn', 'a hook failed, and counts as if it had not run', {
      of: name,
      event: String(event.hook_event_name),
      error,
    });
  }
  return answer;
}

/** A line is the business of the platform's shell, unless the hook is written for another one. */
function commandOf({ command, shell }: HookCommand): { command: string; args?: readonly string[] } {
  if (shell === 'bash') return { command: 'bash', args: ['-c', command] };
  if (shell === 'powershell') return { command: 'powershell', args: ['-NoProfile', '-Command', command] };
  return { command };
}

function wordsOf(end: ProcessEnd): string {
  if (end.kind === 'exited') return `exit code ${end.code}`;
  if (end.kind === 'killed') return `ended by ${end.signal}`;
  return end.kind === 'not-started' ? `could not be started (${end.code})` : 'took too long';
}

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
