/**
 * When the process that a terminal was opened for ends, the system throws away what nobody has read yet: the end of its
 * output. So a command runs inside another process, which says how it ended and then stands still until the host, which
 * has read everything up to there, ends it. Processes in the background are still there to be seen until then.
 */
import { randomUUID } from 'node:crypto';
import type { Launch } from './launch.js';

/** Ctrl+C is for the command. So is the request to end: the holder ends when the command has, and its last words came. */
const BEGIN = String.raw`
n=$ATRIUM_TERMINAL_NONCE end=; unset ATRIUM_TERMINAL_NONCE
exec 3>&2 2>/dev/null; trap : INT QUIT; trap end=1 TERM
say() { printf '\033]633;X;%s;%s\007' "$?" "$n"; }`;

/** Somebody may type: the command has the terminal itself. */
const ON_TERMINAL = '(exec 2>&3 3>&-; exec "$@"); say';

/**
 * Programs write for whoever reads: on a terminal they draw, break lines, page and ask. A model reads, so the command has
 * no input, and a pipe between itself and the terminal. What it wrote and how it ended go the same way, and stay in order.
 */
const BESIDE_TERMINAL =
  '(trap : INT QUIT TERM; (exec "$@") </dev/null 2>&1; say) 3>&- | (trap "" INT QUIT TERM; exec cat 3>&-)\n' +
  // The first word counts. This is for a command that kills whoever started it.
  '(exit 137); say';

const END = '[ "$end" ] || kill -STOP $$';

export interface HeldCommand {
  readonly command: string;
  /** Whether it can be typed to. */
  readonly hasInput: boolean;
  readonly env: Launch['env'];
}

export function heldCommand({ command, hasInput, env }: HeldCommand): Launch {
  const nonce = randomUUID();
  const script = [BEGIN, hasInput ? ON_TERMINAL : BESIDE_TERMINAL, END].join('\n');
  const args = ['-c', script, 'sh', '/bin/sh', '-c', command];
  return { file: '/bin/sh', args, env: { ...env, ATRIUM_TERMINAL_NONCE: nonce }, nonce };
}
