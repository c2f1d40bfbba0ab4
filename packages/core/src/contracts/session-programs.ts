/** On which of several hosts the programs of a session run. */
import type { StartProgram } from '../util/programs.js';

/** On which host each session worked last, also beyond the life of the active host. */
export interface LastHosts {
  of(session: string): Promise<string | undefined>;
  set(session: string, host: string): void;
}

export interface SessionPrograms {
  /** Remembers in the log where sessions work: an agent finds its own memory of a session on the host where it was. */
  rememberIn(hosts: LastHosts): void;
  /**
   * Starts programs of a session where the session works, or where it can work best if none of them runs: on a host that sees all
   * its folders.
   */
  startFor(session: string, folders?: readonly string[]): StartProgram;
  /** Calls back with sessions whose programs should end as soon as they are idle, because their host is leaving. */
  whenLeaving(rest: (session: string) => void): void;
}
