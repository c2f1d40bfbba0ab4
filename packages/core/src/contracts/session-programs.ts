/** On which of several hosts the programs of a session run. */
import type { StartProgram } from '../util/programs.js';

export interface SessionPrograms {
  /** Starts programs of a session where the session works, or where it can work best if none of them runs. */
  startFor(session: string): StartProgram;
  /** Calls back with sessions whose programs should end as soon as they are idle, because their host is leaving. */
  whenLeaving(rest: (session: string) => void): void;
}
