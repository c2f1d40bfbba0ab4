/**
 * Linux hands open files of the host down to what it starts on a terminal, other terminals among them. A program must not
 * hold the terminal of another: so what is started first lets go of everything that is not its own.
 */
import { existsSync } from 'node:fs';
import type { Launch } from './launch.js';

/** Only this shell can close files of any number. `-p` keeps it from reading files that the environment names. */
const BASH = ['/bin/bash', '/usr/bin/bash'].find((file) => process.platform === 'linux' && existsSync(file));

const LET_GO = 'for f in /proc/self/fd/*; do n=$' + '{f##*/}; [[ $n -gt 2 ]] && eval "exec $n>&-"; done; exec "$@"';

export function withOwnFiles<T extends Pick<Launch, 'file' | 'args'>>(launch: T): T {
  if (BASH === undefined) return launch;
  return { ...launch, file: BASH, args: ['-p', '-c', LET_GO, launch.file, launch.file, ...launch.args] };
}
