/**
 * When the process that a terminal was opened for ends, the system throws away what nobody has read yet: the end of its
 * output. So a command runs inside another process, which says how it ended and then stands still until the host, which
 * has read everything up to there, ends it. Processes in the background are still there to be seen until then.
 */
import { randomUUID } from 'node:crypto';
import type { Launch } from './launch.js';

/** Says nothing of its own about how the command ended, and is not ended by Ctrl+C, which is for the command. */
const HOLD = String.raw`
n=$ATRIUM_TERMINAL_NONCE; unset ATRIUM_TERMINAL_NONCE
exec 3>&2 2>/dev/null; trap : INT QUIT
(exec 2>&3 3>&-; exec "$@")
printf '\033]633;X;%s;%s\007' "$?" "$n"
kill -STOP $$`;

export function heldCommand(command: string, env: Launch['env']): Launch {
  const nonce = randomUUID();
  const args = ['-c', HOLD, 'sh', '/bin/sh', '-c', command];
  return { file: '/bin/sh', args, env: { ...env, ATRIUM_TERMINAL_NONCE: nonce }, nonce };
}
