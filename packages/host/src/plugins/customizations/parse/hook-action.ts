/** What a hook does. The host runs commands; other actions are listed but not run. */
import { isRecord } from '../../../core/util/shape.js';
import { HOOK_TIMEOUT_MAX_SECONDS } from './limits.js';
import { expand, fullLookup, pluginLookup, reservedVariables, type Surroundings } from './placeholders.js';
import { present } from './present.js';
import { expandInShell } from './shell-text.js';
import { textMap } from './text-map.js';

export type HookAction = HookCommand | UnsupportedAction;

export interface HookCommand {
  readonly kind: 'command';
  /** A line for the shell. */
  readonly command: string;
  readonly shell: 'default' | 'bash' | 'powershell';
  /** Absent: the session's working directory. */
  readonly cwd?: string;
  /** To be added to the environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

export interface UnsupportedAction {
  readonly kind: 'unsupported';
  /** Completes the sentence that begins with the hook's name. */
  readonly reason: string;
}

export function hookAction(value: unknown, surroundings: Surroundings, isStrict: boolean): HookAction {
  if (!isRecord(value)) return unsupported('is not an object');
  const type = value.type ?? 'command';
  if (type !== 'command') return unsupported(`has an action that this host does not run (${shown(type)})`);
  const line = commandFor(value, surroundings.platform);
  if (!line) return unsupported(`has no command for this system (${surroundings.platform})`);
  const isWindows = surroundings.platform === 'win32';
  const lookup = fullLookup(surroundings, isStrict);
  const { cwd } = value;
  return {
    kind: 'command',
    // Variables of the environment are the shell's own business.
    command: expandInShell(line.command, pluginLookup(surroundings, isStrict), isWindows),
    shell: line.shell,
    ...present({ cwd: typeof cwd === 'string' && cwd !== '' ? expand(cwd, lookup) : undefined }),
    env: { ...textMap(value.env, (text) => expand(text, lookup)), ...reservedVariables(surroundings) },
    ...present({ timeoutMs: timeoutOf(value.timeout ?? value.timeoutSec) }),
  };
}

function unsupported(reason: string): UnsupportedAction {
  return { kind: 'unsupported', reason };
}

/** Only a short word is repeated: the rest of an action is nobody's business but the host's. */
function shown(type: unknown): string {
  return typeof type === 'string' && /^[\w-]{1,20}$/.test(type) ? type : 'unknown type';
}

type Line = Pick<HookCommand, 'command' | 'shell'>;

/** The command for this system comes first, then the one for its usual shell, then the one for all. */
function commandFor(action: Readonly<Record<string, unknown>>, platform: NodeJS.Platform): Line | undefined {
  const isWindows = platform === 'win32';
  const system = isWindows ? 'windows' : platform === 'darwin' ? 'osx' : 'linux';
  const shell = isWindows ? 'powershell' : 'bash';
  const choices: readonly (readonly [unknown, HookCommand['shell']])[] = [
    [action[system], 'default'],
    [action[shell], shell],
    [action.command, 'default'],
  ];
  for (const [command, itsShell] of choices) {
    if (typeof command === 'string' && command.trim() !== '') return { command, shell: itsShell };
  }
  return undefined;
}

function timeoutOf(seconds: unknown): number | undefined {
  if (typeof seconds !== 'number' || !(seconds > 0)) return undefined;
  return Math.ceil(Math.min(seconds, HOOK_TIMEOUT_MAX_SECONDS) * 1_000);
}
