/** Runs the command of a tool in its own terminal, where people can watch it, type into it, and take it over. */
import { randomUUID } from 'node:crypto';
import { SHELL_GRACE_MS, type TerminalRequest, type TerminalRun } from '@atrium/core/contracts/tool.js';
import { PlainLines } from '@atrium/core/util/plain-text.js';
import { killOnExit } from '@atrium/core/util/processes.js';
import { shorten } from '@atrium/core/util/text.js';
import type { TerminalClaim } from '@atrium/protocol/ahp-1';
import { type CallClaim, inBackground, isOfCall } from './claims.js';
import { cleanTitle } from './osc-sequences.js';
import { commandEnvironment, type Launch } from './shells.js';
import type { Terminal } from './terminal.js';
import type { TerminalEnd } from './terminal-process.js';
import type { Terminals } from './terminals.js';

/**
 * When the process of a terminal ends, the system discards output that has not been read. So a command runs inside a
 * holder process, which reports how the command ended and then stops until the host, having read everything up to
 * there, ends it. Until then background processes can be found. Ctrl+C and the request to end are for the command: the
 * holder ends when the command has ended and its output was read.
 */
const BEGIN = String.raw`
n=$ATRIUM_TERMINAL_NONCE end=; unset ATRIUM_TERMINAL_NONCE
exec 3>&2 2>/dev/null; trap : INT QUIT; trap end=1 TERM
say() { printf '\033]633;X;%s;%s\007' "$?" "$n"; }`;

/** A person may type, so the command is on the terminal itself. */
const ON_TERMINAL = '(exec 2>&3 3>&-; exec "$@"); say';

/**
 * On a terminal, programs draw, break lines, page and ask. A model reads this output, so the command has no input, and
 * a pipe lies between it and the terminal. Output and exit code take the same way, and so stay in order.
 */
const BESIDE_TERMINAL =
  '(trap : INT QUIT TERM; (exec "$@") </dev/null 2>&1; say) 3>&- | (trap "" INT QUIT TERM; exec cat 3>&-)\n' +
  // The first report counts; this one is for a command that kills its parent.
  '(exit 137); say';

const END = '[ "$end" ] || kill -STOP $$';

const TITLE_CHARACTERS = 60;
/** The size of the terminal, for people who watch it. */
const SIZE = { cols: 120, rows: 30 } as const;

interface CommandRun {
  readonly claim: CallClaim;
  /** Whether a person can type. Otherwise a command that reads input must get none instead of waiting. */
  readonly isWatched: boolean;
  readonly request: TerminalRequest;
}

/** Undefined when no terminal is available; then the command has not run at all. */
export async function runCommand(terminals: Terminals, run: CommandRun): Promise<TerminalRun | undefined> {
  if (process.platform === 'win32') return undefined;
  const { claim, request } = run;
  const canOpen = await terminals.canOpen();
  if (request.signal.aborted) return { kind: 'cancelled' };
  const terminal = canOpen ? await openFor(terminals, run).catch(() => undefined) : undefined;
  if (!terminal) return undefined;
  const forget = killOnExit(terminal.pid);
  terminal.screen.beginCommand(claim.toolCallId, request.command);
  request.shown({ resource: terminal.uri, title: terminal.state.title });
  const end = await watch(terminal, request);
  forget();
  if (isOfCall(terminal.state.claim)) terminal.claim(inBackground(claim));
  await terminal.settled();
  terminals.finished(terminal);
  return end;
}

interface BackgroundStart {
  readonly claim: CallClaim;
  readonly command: string;
  readonly cwd: string;
}

/** Starts a command that no call waits for. It ends with its terminal, its session, or the host. */
export async function startInBackground(
  terminals: Terminals,
  { claim, command, cwd }: BackgroundStart,
): Promise<Terminal> {
  const terminal = await terminals.openTerminal({
    uri: `ahp-terminal:/${randomUUID()}`,
    claim: inBackground(claim),
    launch: suspendedLaunch({
      command,
      hasInput: false,
      env: commandEnvironment({ arePresent: false, canType: false }),
    }),
    cwd,
    size: SIZE,
    title: shorten(cleanTitle(command), TITLE_CHARACTERS),
    isNamed: true,
    isOfTool: true,
    ending: { signal: 'SIGTERM', graceMs: SHELL_GRACE_MS },
  });
  const forget = killOnExit(terminal.pid);
  terminal.screen.beginCommand(claim.toolCallId, command);
  void terminal.ended.then(() => {
    forget();
    terminals.finished(terminal);
  });
  return terminal;
}

function openFor(terminals: Terminals, { claim, isWatched, request }: CommandRun): Promise<Terminal> {
  const { command, cwd, graceMs, interactive, running } = request;
  const people = { arePresent: isWatched, canType: interactive && isWatched };
  return terminals.openTerminal({
    uri: `ahp-terminal:/${randomUUID()}`,
    claim,
    launch: suspendedLaunch({
      command,
      hasInput: people.canType,
      env: { ...commandEnvironment(people), ...running?.environment() },
    }),
    cwd,
    size: SIZE,
    title: shorten(cleanTitle(command), TITLE_CHARACTERS),
    isNamed: true,
    isOfTool: true,
    ending: { signal: 'SIGTERM', graceMs },
  });
}

/** Waits until the command ends, is stopped, or a person takes the terminal over. */
async function watch(terminal: Terminal, request: TerminalRequest): Promise<TerminalRun> {
  const { clock, signal, timeoutMs, output, running } = request;
  const lines = new PlainLines();
  terminal.screen.onOutput = (text) => {
    running?.output(text);
    output(lines.push(text), 'stdout');
  };
  terminal.beforeShown = () => running?.store();
  let early: 'timeout' | 'cancelled' | undefined;
  const stop = (why: 'timeout' | 'cancelled') => {
    early ??= why;
    void terminal.end();
  };
  const cancel = () => stop('cancelled');
  const disarm = clock.after(timeoutMs, () => stop('timeout'));
  signal.addEventListener('abort', cancel, { once: true });
  // The call may have been cancelled while the terminal was being opened.
  if (signal.aborted) cancel();
  const end = await Promise.race([terminal.ended, unclaimed(terminal)]);
  disarm();
  signal.removeEventListener('abort', cancel);
  terminal.screen.onOutput = undefined;
  terminal.beforeShown = undefined;
  running?.store();
  terminal.onUnclaimed = undefined;
  output(lines.end(), 'stdout');
  if ('kind' in end) return { kind: 'detached', isTaken: end.kind === 'client' };
  return early ? { kind: early } : endOf(end);
}

function unclaimed(terminal: Terminal): Promise<TerminalClaim> {
  return new Promise((resolve) => {
    terminal.onUnclaimed = resolve;
  });
}

function endOf({ exitCode, signal, strays }: TerminalEnd): TerminalRun {
  return signal ? { kind: 'killed', signal: signal.name } : { kind: 'exited', code: exitCode, strays };
}

interface SuspendedCommand {
  readonly command: string;
  /** Whether a person can type into it. */
  readonly hasInput: boolean;
  readonly env: Launch['env'];
}

function suspendedLaunch({ command, hasInput, env }: SuspendedCommand): Launch {
  const nonce = randomUUID();
  const script = [BEGIN, hasInput ? ON_TERMINAL : BESIDE_TERMINAL, END].join('\n');
  const args = ['-c', script, 'sh', '/bin/sh', '-c', command];
  return { file: '/bin/sh', args, env: { ...env, ATRIUM_TERMINAL_NONCE: nonce }, nonce };
}
