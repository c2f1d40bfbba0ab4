/**
 * Runs one hook as a process, with the event as JSON on its input, and reads its answer. The convention is Claude's.
 */
import { tmpdir } from 'node:os';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { childEnvironment } from '@atrium/core/util/processes.js';
import { type ProcessEnd, runProcess } from '@atrium/core/util/run-process.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { Tail } from '@atrium/core/util/streams.js';
import type { HookCommand } from '../formats/hook-declarations.js';
import { HOOK_GRACE_MS, HOOK_OUTPUT_MAX_BYTES, HOOK_TIMEOUT_MS } from '../formats/limits.js';

export interface HookPlace {
  /** The container that has the hook, for the log. */
  readonly name: string;
  /** The session's folder. */
  readonly folder: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Undefined when the hook failed. A failed hook decides nothing, and the host logs it. */
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
    const error = [endText(end), printed.stderr.trim()].filter(Boolean).join(': ');
    logger.log('warn', 'a hook failed; its decision does not count', {
      of: name,
      event: String(event.hook_event_name),
      error,
    });
  }
  return answer;
}

/** Runs the line in the platform's shell, unless the hook names another one. */
function commandOf({ command, shell }: HookCommand): { command: string; args?: readonly string[] } {
  // Our pipes are sockets. If the input is a socket, the first bash believes that it is a remote shell and reads
  // ~/.bashrc.
  if (shell === 'bash') return { command: 'bash', args: ['--norc', '-c', command] };
  if (shell === 'powershell') return { command: 'powershell', args: ['-NoProfile', '-Command', command] };
  return { command };
}

function endText(end: ProcessEnd): string {
  if (end.kind === 'exited') return `exit code ${end.code}`;
  if (end.kind === 'killed') return `ended by ${end.signal}`;
  return end.kind === 'not-started' ? `could not be started (${end.code})` : 'took too long';
}

interface HookRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface HookAnswer {
  readonly decision: 'none' | 'ask' | 'deny';
  /** `continue: false`: all work should end. At the end of a turn this is not an objection. */
  readonly isHalt?: boolean;
  /** Empty when the hook gave none. */
  readonly reason: string;
  /** `additionalContext`, for the model. */
  readonly context?: string;
  /** The output, if it is plain text. */
  readonly text?: string;
}

/** The exit code of an objection. */
const EXIT_BLOCK = 2;

const NOTHING: HookAnswer = { decision: 'none', reason: '' };

/** Undefined when the hook failed. */
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

/** Some hooks write the decision inside `hookSpecificOutput`, some beside it. */
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
  // A hook that allows a call does not object, but gives no permission either.
  return decided === 'ask' ? 'ask' : 'none';
}

function firstText(...values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value.trim() !== '');
}
