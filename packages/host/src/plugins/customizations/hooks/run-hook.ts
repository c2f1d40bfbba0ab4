/** Runs one hook as a process of its own: the event as JSON on its input, bounded output, a time to end by. */
import { tmpdir } from 'node:os';
import { childEnvironment } from '../../../core/util/child-environment.js';
import type { Clock } from '../../../core/util/clock.js';
import type { Logger } from '../../../core/util/logger.js';
import { type ProcessEnd, runProcess } from '../../../core/util/run-process.js';
import { Tail } from '../../../core/util/tail.js';
import { HOOK_GRACE_MS, HOOK_OUTPUT_MAX_BYTES, HOOK_TIMEOUT_MS } from '../limits.js';
import type { HookCommand } from '../parse/hook-action.js';
import { answerOf, type HookAnswer } from './answer.js';

export interface HookRoom {
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
  { name, folder, env, clock, logger, signal }: HookRoom & { readonly signal: AbortSignal },
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
