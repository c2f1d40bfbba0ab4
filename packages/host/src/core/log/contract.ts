/**
 * What every log promises, as tests. Whoever writes a log runs this suite against it:
 * `logContract({ describe, it, expect }, 'my log', openMyLog)`. The test runner comes in as an argument.
 */
import { archiveContract } from './contract/archives.js';
import { compactionContract } from './contract/compaction.js';
import { entryContract } from './contract/entries.js';
import { followContract } from './contract/follow.js';
import { reopenContract } from './contract/reopen.js';
import type { ContractApi, OpenLog } from './contract/support.js';

export type { ContractApi, LogUnderTest, OpenLog } from './contract/support.js';

export function logContract(api: ContractApi, name: string, open: OpenLog): void {
  api.describe(`${name} keeps the contract of a log`, () => {
    entryContract(api, open);
    archiveContract(api, open);
    followContract(api, open);
    compactionContract(api, open);
    reopenContract(api, open);
  });
}
