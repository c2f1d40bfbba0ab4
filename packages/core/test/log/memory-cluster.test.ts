import { describe, expect, it } from 'vitest';
import { sharedLogContract } from '../../src/log/conformance-shared.js';
import { MemoryCluster } from '../support/memory-cluster.js';

sharedLogContract({ describe, it, expect }, 'The cluster in memory', async () => {
  const cluster = new MemoryCluster();
  return {
    join: async (host) => cluster.join(host),
    bury: async (host) => cluster.bury(host),
    close: async () => {},
  };
});
