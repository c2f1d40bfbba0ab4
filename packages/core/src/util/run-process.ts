/** Runs a program to its end, in its own group and within a time limit, and leaves no process behind. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Clock } from './clock.js';
import { endGroup, killOnExit } from './processes.js';

/** How long output may still arrive after the whole group is gone. */
export const OUTPUT_CLOSE_MAX_MS = 500;

export interface ProcessRequest {
  readonly command: string;
  /** Without arguments, the command is a line for the platform's shell. */
  readonly args?: readonly string[];
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** The program's input; without it, the program has none. */
  readonly input?: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Time between asking it to end and killing it. */
  readonly graceMs: number;
  readonly clock: Clock;
  /** Called with the leader of the group. The function it returns is called when the group is gone. */
  started?(leader: number): () => void;
  output(text: string, stream: 'stdout' | 'stderr'): void;
}

export type ProcessEnd =
  /** `strays`: the command ended, but background processes that it had started had to be ended. */
  | { readonly kind: 'exited'; readonly code: number; readonly strays: boolean }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'not-started'; readonly code: string };

type Child = ChildProcessByStdio<Writable | null, Readable, Readable>;
type Exit = { readonly code: number | null; readonly signal: string | null };

export async function runProcess(request: ProcessRequest): Promise<ProcessEnd> {
  if (request.signal.aborted) return { kind: 'cancelled' };
  const started = await start(request);
  return 'code' in started ? { kind: 'not-started', code: started.code } : watch(started.child, started.pid, request);
}

async function start(request: ProcessRequest): Promise<{ child: Child; pid: number } | { code: string }> {
  try {
    const child = spawnChild(request);
    if (child.pid !== undefined) return { child, pid: child.pid };
    return { code: codeOf(await new Promise((resolve) => child.once('error', resolve))) };
  } catch (error) {
    return { code: codeOf(error) };
  }
}

function spawnChild({ command, args, cwd, env, input }: ProcessRequest): Child {
  const options = { cwd, env, detached: process.platform !== 'win32', windowsHide: true } as const;
  const child: Child = spawn(command, args ?? [], {
    ...options,
    shell: args === undefined,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  }) as Child;
  // Without a listener, a failed kill or a broken pipe would crash the host.
  for (const emitter of [child, child.stdin, child.stdout, child.stderr]) emitter?.on('error', () => {});
  child.stdin?.end(input);
  return child;
}

async function watch(child: Child, pid: number, request: ProcessRequest): Promise<ProcessEnd> {
  const { clock, graceMs, signal } = request;
  const forget = killOnExit(pid);
  const forgetElsewhere = request.started?.(pid);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<Exit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => request.output(text, stream));
  }

  let early: 'timeout' | 'cancelled' | undefined;
  let ending: Promise<boolean> | undefined;
  const stop = (why: 'timeout' | 'cancelled') => {
    early ??= why;
    ending ??= endGroup(pid, clock, graceMs);
  };
  const cancel = () => stop('cancelled');
  const disarm = clock.after(request.timeoutMs, () => stop('timeout'));
  signal.addEventListener('abort', cancel, { once: true });

  const exit = await exited;
  disarm();
  signal.removeEventListener('abort', cancel);
  const strays = await (ending ?? endGroup(pid, clock, graceMs));
  forget();
  forgetElsewhere?.();
  await closeWithin(closed, child, clock);
  return early ? { kind: early } : endOf(exit, strays);
}

/** Closes the pipes after a while: a process that left its group may still hold them. */
async function closeWithin(closed: Promise<void>, child: Child, clock: Clock): Promise<void> {
  const disarm = clock.after(OUTPUT_CLOSE_MAX_MS, () => {
    child.stdin?.destroy();
    child.stdout.destroy();
    child.stderr.destroy();
  });
  await closed;
  disarm();
}

function endOf({ code, signal }: Exit, strays: boolean): ProcessEnd {
  return code === null ? { kind: 'killed', signal: signal ?? 'a signal' } : { kind: 'exited', code, strays };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'UNKNOWN';
}
