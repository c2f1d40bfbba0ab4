/**
 * Process groups of the operating system. A command runs as the leader of its own group, so ending the group also ends
 * what the command started, except processes that made a group of their own on purpose. Every process that the host
 * starts for others gets `childEnvironment`.
 */
import { execFile, spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Clock } from './clock.js';

const WINDOWS = process.platform === 'win32';

/** Prefix of the host's own settings, which include the token that opens the host and the keys of its models. */
const HOST_SETTINGS = 'ATRIUM_';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The host's environment without its own settings. */
export function childEnvironment(host: Environment = process.env): Record<string, string> {
  const open = Object.entries(host).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].toUpperCase().startsWith(HOST_SETTINGS),
  );
  return Object.fromEntries(open);
}

/** Sends a signal to every process of a group (0 only checks); false when the group does not exist. */
export function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  if (WINDOWS) return signalTree(leader, signal);
  try {
    process.kill(-leader, signal);
    return true;
  } catch (error) {
    // EPERM: the group exists, but its remaining processes belong to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** For Windows, which has no groups: it can end a tree while its root lives. */
function signalTree(root: number, signal: NodeJS.Signals | 0): boolean {
  if (signal !== 0) return spawnSync('taskkill', ['/pid', String(root), '/T', '/F'], { stdio: 'ignore' }).status === 0;
  try {
    return process.kill(root, 0);
  } catch {
    return false;
  }
}

/** Running groups, killed if this process exits first. Global, because the exit of a process is. */
const running = new Set<number>();

function killAll(): void {
  for (const leader of running) signalGroup(leader, 'SIGKILL');
}

/** Kills a group when this process exits; the returned function cancels that. */
export function killOnExit(leader: number): () => void {
  if (running.size === 0) process.once('exit', killAll);
  running.add(leader);
  return () => {
    running.delete(leader);
    if (running.size === 0) process.off('exit', killAll);
  };
}

export const GROUP_POLL_MS = 15;
/** How long to wait for a kill: a process may hang in a driver. */
export const GROUP_KILL_MAX_MS = 1_000;
/**
 * An interval that keeps the process alive, because the clock's timers do not. While a starting host ends what its
 * predecessor left running, nothing else does: Node would exit halfway, with code 13.
 */
const KEEP_ALIVE_MS = 60_000;

/**
 * Asks a group to end, kills it after the grace period, and returns when it is gone. Returns whether the group existed.
 */
export async function endGroup(leader: number, clock: Clock, graceMs: number): Promise<boolean> {
  if (!(await isGroupRunning(leader))) return false;
  const keepAlive = setInterval(() => {}, KEEP_ALIVE_MS);
  try {
    signalGroup(leader, 'SIGTERM');
    if (await isGoneWithin(leader, clock, graceMs)) return true;
    signalGroup(leader, 'SIGKILL');
    await isGoneWithin(leader, clock, GROUP_KILL_MAX_MS);
    return true;
  } finally {
    clearInterval(keepAlive);
  }
}

/**
 * Waits by the clock, not by counting checks: on a busy machine, a check takes longer than the pause before the next.
 */
async function isGoneWithin(leader: number, clock: Clock, milliseconds: number): Promise<boolean> {
  let isOverdue = false;
  const disarm = clock.after(milliseconds, () => {
    isOverdue = true;
  });
  try {
    while (await isGroupRunning(leader)) {
      if (isOverdue) return false;
      await new Promise<void>((resolve) => clock.after(GROUP_POLL_MS, resolve));
    }
    return true;
  } finally {
    disarm();
  }
}

/** Enough for a table of many thousands of processes. */
const PS_OUTPUT_MAX_BYTES = 4 * 2 ** 20;
const PS_TIMEOUT_MS = 2_000;

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** The process that opened its terminal; 0 when the system does not say. */
  readonly session: number;
}

/**
 * True while a group has running processes. A process that has ended stays in the table until its parent collects it,
 * and some parents never do (a container without an init). Such an entry accepts signals as if it were alive, so on
 * Linux the table itself is read.
 */
export async function isGroupRunning(leader: number): Promise<boolean> {
  if (!signalGroup(leader, 0)) return false;
  if (process.platform !== 'linux') return true;
  const entries = await linuxTable();
  return entries.length === 0 || entries.some(({ group }) => group === leader);
}

/**
 * The groups of a process and of all its descendants; only its own when the table cannot be read. Descendants can no
 * longer be found once the process has ended.
 */
export async function groupsOfFamily(root: number): Promise<Set<number>> {
  return groupsOf(root, await table());
}

function groupsOf(root: number, entries: readonly ProcessEntry[]): Set<number> {
  const children = childrenIn(entries);
  const groups = new Set([root]);
  const waiting = [root];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    for (const child of children.get(pid) ?? []) {
      groups.add(child.group);
      waiting.push(child.pid);
    }
    // Visit no process twice, even if the table has a cycle.
    children.delete(pid);
  }
  return groups;
}

/** The processes in the terminal of a process. */
export interface InTerminal {
  readonly groups: ReadonlySet<number>;
  /** Some processes still run although those that started them have ended. */
  readonly hasStrays: boolean;
}

/**
 * The descendants of a process, those that only share its terminal because their parents have ended, and those in
 * groups that were found before. Only Linux shows the second kind.
 */
export async function inTerminal(leader: number, before: Iterable<number> = []): Promise<InTerminal> {
  const entries = await table();
  if (entries.length === 0) {
    return { groups: new Set([leader, ...before].filter((group) => signalGroup(group, 0))), hasStrays: false };
  }
  const known = new Set([...before, ...groupsOf(leader, entries)]);
  const isInside = ({ group, session }: ProcessEntry) => session === leader || group === leader;
  return {
    groups: new Set(entries.flatMap((entry) => (isInside(entry) || known.has(entry.group) ? entry.group : []))),
    hasStrays: entries.some((entry) => isInside(entry) && entry.pid !== leader && entry.parent !== leader),
  };
}

/**
 * The groups of processes that were started with a variable of this value. Only Linux shows them. This process's own
 * group is not included: a host that a command started has that command's variables.
 */
export async function groupsWith(variable: string, value: string): Promise<Set<number>> {
  const entries = process.platform === 'linux' ? await linuxTable() : [];
  const own = entries.find(({ pid }) => pid === process.pid)?.group;
  const found = entries.map(async ({ pid, group }) => {
    if (group === own) return [];
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
    return environment.split('\0').includes(`${variable}=${value}`) ? group : [];
  });
  return new Set((await Promise.all(found)).flat());
}

function childrenIn(entries: readonly ProcessEntry[]): Map<number, ProcessEntry[]> {
  const children = new Map<number, ProcessEntry[]>();
  for (const entry of entries) {
    const siblings = children.get(entry.parent);
    if (siblings) siblings.push(entry);
    else children.set(entry.parent, [entry]);
  }
  return children;
}

/** All running processes. */
function table(): Promise<readonly ProcessEntry[]> {
  if (process.platform === 'linux') return linuxTable();
  // Windows has no groups, and ends whole trees.
  return process.platform === 'win32' ? Promise.resolve([]) : psTable();
}

const ENDED: ReadonlySet<string | undefined> = new Set(['Z', 'X']);

async function linuxTable(): Promise<readonly ProcessEntry[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const entries = pids.map(async (pid) =>
    entryIn(Number(pid), await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')),
  );
  return (await Promise.all(entries)).flat();
}

/**
 * Parses an entry `pid (name) state parent group session …`. A name can contain anything, so the last bracket counts.
 */
function entryIn(pid: number, text: string): ProcessEntry | [] {
  const [state, parent, group, session] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  if (group === undefined || ENDED.has(state)) return [];
  return { pid, parent: Number(parent), group: Number(group), session: Number(session) };
}

async function psTable(): Promise<readonly ProcessEntry[]> {
  const options = { timeout: PS_TIMEOUT_MS, maxBuffer: PS_OUTPUT_MAX_BYTES };
  const ps = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,pgid='], options).catch(() => ({ stdout: '' }));
  return ps.stdout.split('\n').flatMap((line) => {
    const [pid, parent, group] = line.trim().split(/\s+/).map(Number);
    return pid && parent !== undefined && group ? { pid, parent, group, session: 0 } : [];
  });
}
