/**
 * Groups of processes, as the operating system knows them. A command runs as the leader of a group of its own, so that
 * ending the group also ends what the command started, except processes that made themselves a group on purpose. Every
 * process that the host starts for others gets `childEnvironment`.
 */
import { execFile, spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Clock } from './clock.js';

const WINDOWS = process.platform === 'win32';

/** The host's own settings begin like this. The token that opens it, and the keys of its models, are among them. */
const HOST_SETTINGS = 'ATRIUM_';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The host's environment without its own settings. */
export function childEnvironment(host: Environment = process.env): Record<string, string> {
  const open = Object.entries(host).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].toUpperCase().startsWith(HOST_SETTINGS),
  );
  return Object.fromEntries(open);
}

/** Sends a signal to every process of a group (0 only looks); false when there is none. */
export function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  if (WINDOWS) return signalTree(leader, signal);
  try {
    process.kill(-leader, signal);
    return true;
  } catch (error) {
    // EPERM: the group exists, but what is left of it belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Windows knows no groups; it can end a tree while its root lives. */
function signalTree(root: number, signal: NodeJS.Signals | 0): boolean {
  if (signal !== 0) return spawnSync('taskkill', ['/pid', String(root), '/T', '/F'], { stdio: 'ignore' }).status === 0;
  try {
    return process.kill(root, 0);
  } catch {
    return false;
  }
}

/** Groups that run now. They are killed if this process exits first. Global, because the exit of a process is. */
const running = new Set<number>();

function killAll(): void {
  for (const leader of running) signalGroup(leader, 'SIGKILL');
}

/** Kills a group when this process exits; the returned function takes that back. */
export function killOnExit(leader: number): () => void {
  if (running.size === 0) process.once('exit', killAll);
  running.add(leader);
  return () => {
    running.delete(leader);
    if (running.size === 0) process.off('exit', killAll);
  };
}

export const GROUP_POLL_MS = 15;
/** How long the system may take over a kill; a process that hangs in a driver is not waited for longer. */
export const GROUP_KILL_MAX_MS = 1_000;
/**
 * The clock's timers do not keep the process alive. A host that starts has nothing else that does while it ends what its
 * predecessor left running: Node would exit in the middle of it, with code 13.
 */
const KEEP_ALIVE_MS = 60_000;

/** Asks a group to end, kills it after the grace, and returns when it is gone. Returns whether the group existed. */
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

/** By the clock: on a busy machine a look takes longer than the pause before the next. */
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

/** A table of many thousands of processes fits. */
const PS_OUTPUT_MAX_BYTES = 4 * 2 ** 20;
const PS_TIMEOUT_MS = 2_000;

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Whose terminal it is in, by the process that opened it; 0 where the system does not say. */
  readonly session: number;
}

/**
 * A process that has ended stays in the table until its parent asks how, and some parents never do (a container without
 * an init). Such an entry takes signals as if it lived, so on Linux the table itself is read.
 */
export async function isGroupRunning(leader: number): Promise<boolean> {
  if (!signalGroup(leader, 0)) return false;
  if (process.platform !== 'linux') return true;
  const entries = await linuxTable();
  return entries.length === 0 || entries.some(({ group }) => group === leader);
}

/**
 * The groups of a process and of all that descend from it; only its own where the table cannot be read. Who descends
 * from a process cannot be told any more once it has ended.
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
    // Visits no process twice, even when the table has a cycle.
    children.delete(pid);
  }
  return groups;
}

/** The processes in the terminal of a process. */
export interface InTerminal {
  readonly groups: ReadonlySet<number>;
  /** Some run on although the process that started them has ended. */
  readonly hasStrays: boolean;
}

/**
 * What descends from a process, and what only shares its terminal because its parents have ended; also what is in groups
 * that were found before. Only Linux tells the second kind.
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
 * The groups of the processes that were started with a variable of this value. Only Linux tells; elsewhere none. The group
 * of this very process is not among them: a host that was started by a command has the variables of that command.
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
  // Windows knows no groups, and ends whole trees.
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

/** An entry reads `pid (name) state parent group session …`; a name can hold anything, so the last bracket counts. */
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
