/** Where the programs are that tests start: `scripts/test-programs.mjs` has bundled them before the first test. */
import { inject } from 'vitest';

type ProgramName =
  | 'atrium'
  | 'crash-host'
  | 'automation-host'
  | 'hostile-host'
  | 'log-appender'
  | 'log-steps'
  | 'log-opener'
  | 'cluster-appender'
  | 'copilot-child'
  | 'mcp-server'
  | 'host';

declare module 'vitest' {
  interface ProvidedContext {
    programs: Readonly<Record<ProgramName, string>>;
    engineFolder: string;
  }
}

/** The path of a bundle, to be run by `node`; `host` is the library, to be imported by programs in the text of a test. */
export function programFile(name: ProgramName): string {
  return inject('programs')[name];
}
