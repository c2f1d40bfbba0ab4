/** What is needed to open a terminal, whoever wants one. */
import { pathToFileURL } from 'node:url';
import type { TerminalClaim } from '@atrium/protocol';
import type { HostCore } from '../../core/contracts/host-core.js';
import type { Size } from './check-params.js';
import type { Ending } from './end-processes.js';
import { HANGUP_GRACE_MS } from './limits.js';
import type { SpawnPty } from './pty.js';
import type { Launch } from './shells/launch.js';
import { withOwnFiles } from './shells/own-files.js';
import { Terminal } from './terminal.js';

export interface Opening {
  readonly uri: string;
  readonly claim: TerminalClaim;
  readonly launch: Launch;
  readonly cwd: string;
  readonly size: Size;
  readonly title: string;
  /** A person chose its title. */
  readonly isNamed: boolean;
  /** A tool runs its command there. */
  readonly isOfTool?: boolean;
  readonly ending?: Ending;
}

const HANG_UP: Ending = { signal: 'SIGHUP', graceMs: HANGUP_GRACE_MS };

export interface Surroundings {
  readonly core: HostCore;
  readonly spawn: SpawnPty;
  readonly changed: () => void;
}

/** Starts the process; from here on it is shown. */
export function startTerminal(opening: Opening, { core, spawn, changed }: Surroundings): Terminal {
  const { uri, claim, launch, cwd, size, title, isNamed, isOfTool = false, ending = HANG_UP } = opening;
  const { file, args } = withOwnFiles(launch);
  return new Terminal({
    core,
    uri,
    initial: { title, claim, cwd: pathToFileURL(cwd).href, ...size, content: [] },
    isNamed,
    isOfTool,
    ending,
    nonce: launch.nonce,
    spawn: (events) => spawn({ file, args, cwd, env: launch.env, ...size }, events),
    changed,
  });
}
