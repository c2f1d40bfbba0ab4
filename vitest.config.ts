import { availableParallelism, totalmem } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './scripts/test-order.mjs';

/** Reducers run in the host, in every client and in the browser, and must agree: no branch goes untested. */
const REDUCERS = [
  'packages/protocol/src/**/*reducer.ts',
  'packages/protocol/src/**/reducing.ts',
  'packages/protocol/src/parts.ts',
];

/** A worker comes to 2 GB, with the browser and the hosts that it starts. */
const hasMemory = totalmem() >= 12 * 2 ** 30;

export default defineConfig({
  resolve: {
    // Tests import the sources of these packages. Were the host to load their `dist`, each class would exist twice.
    alias: [
      { find: /^@atrium\/core\/(.*)\.js$/, replacement: `${import.meta.dirname}/packages/core/src/$1.ts` },
      { find: /^@atrium\/agents$/, replacement: `${import.meta.dirname}/packages/agents/src/index.ts` },
    ],
  },
  test: {
    include: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['scripts/test-programs.mjs'],
    sequence: { sequencer: LongestFirst },
    // Tests start thousands of processes, and starting one takes longer the more memory the process holds that starts it:
    // 17 ms with 500 MB, 44 ms with the 1.5 GB of three workers in one process, which all wait meanwhile.
    pool: 'forks',
    // Files share a worker and its loaded modules, which is three times as fast. A test leaves nothing global behind.
    isolate: false,
    // Many tests wait for processes, disks, browsers and sockets: with three workers two cores idle a quarter of the time.
    maxWorkers: Math.max(hasMemory ? 4 : 3, availableParallelism()),
    // A limit for what hangs, not a measure of speed: a loaded machine is no failure.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    coverage: {
      provider: 'v8',
      include: REDUCERS,
      reporter: [['text', { skipFull: true }], 'text-summary', 'json-summary'],
      thresholds: Object.fromEntries(REDUCERS.map((glob) => [glob, { branches: 100 }])),
    },
  },
});
