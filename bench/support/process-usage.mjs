/** What another process, with the processes that it has started, has used so far. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** How often a second the kernel counts time in /proc/<pid>/stat. */
const TICKS_PER_SECOND = 100;

/** CPU in microseconds, memory in bytes. Linux says it exactly; elsewhere `ps` says it to a hundredth of a second. */
export function usageOf(pid) {
  return process.platform === 'linux' ? linuxUsage(pid) : psUsage(pid);
}

function linuxUsage(pid) {
  const family = familyOf(pid);
  const cpu = family.reduce((sum, one) => sum + threadsCpu(one) + endedChildrenCpu(one), 0);
  return { cpu, rss: family.reduce((sum, one) => sum + residentBytes(one), 0) };
}

/** The process and all that descend from it and still run. */
function familyOf(pid) {
  const children = new Map();
  for (const name of readdirSync('/proc')) {
    const fields = /^\d+$/.test(name) ? statOf(name) : undefined;
    if (!fields) continue;
    const parent = Number(fields[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const below = (one) => [one, ...(children.get(one) ?? []).flatMap(below)];
  return below(pid);
}

/** The fields of /proc/<pid>/stat behind the name, which may hold anything. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** In nanoseconds for each thread; the ticks of `stat` would round by five percent. */
function threadsCpu(pid) {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1_000;
}

function endedChildrenCpu(pid) {
  const fields = statOf(pid);
  return fields ? ((Number(fields[13]) + Number(fields[14])) * 1e6) / TICKS_PER_SECOND : 0;
}

function residentBytes(pid) {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes ?? 0) * 1_024;
}

function psUsage(pid) {
  const [time, kilobytes] = execFileSync('ps', ['-o', 'time=,rss=', '-p', String(pid)], { encoding: 'utf8' })
    .trim()
    .split(/\s+/);
  const seconds = time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return { cpu: seconds * 1e6, rss: Number(kilobytes) * 1_024 };
}
