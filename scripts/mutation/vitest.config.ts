import { createHash } from 'node:crypto';
import path from 'node:path';
import { mergeConfig, type Plugin } from 'vite';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import base from '../../vitest.config.js';
import { readJson } from '../process.mjs';

/** The changed sources, and the files to run. See `Plan` in `worker.mjs`. */
const plan = readJson(process.env.ATRIUM_MUTATION_PLAN ?? '');

class AsNamed extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    return files.toSorted((a, b) => (a.moduleId < b.moduleId ? -1 : 1));
  }
}

const changed = (id: string): string | undefined => plan.sources[path.relative(plan.root, id)];

/** Reads the changed sources. A module that Vitest has kept on disk is another one when the change is another. */
const mutants: Plugin = {
  name: 'atrium-mutants',
  enforce: 'pre',
  load: (id) => changed(id) ?? null,
  configureVitest: ({ experimental_defineCacheKeyGenerator: defineKey }) =>
    defineKey(({ id }) => {
      const text = changed(id);
      return text === undefined ? undefined : createHash('sha256').update(text).digest('hex');
    }),
};

const { test, ...rest } = base;

export default mergeConfig(rest, {
  plugins: [mutants],
  test: {
    ...test,
    root: plan.root,
    include: plan.files,
    exclude: [],
    runner: `${import.meta.dirname}/runner.mjs`,
    sequence: { sequencer: AsNamed },
    // Mutants share the worker and its loaded modules: loading the host takes longer than most tests.
    maxWorkers: plan.entries === undefined ? 2 : 1,
    maxConcurrency: 1,
    reporters: ['default'],
    retry: plan.control === true ? 2 : 1,
    expect: { poll: { timeout: 5_000 } },
    passWithNoTests: true,
    dangerouslyIgnoreUnhandledErrors: true,
    // A run starts many workers, and each would compile the host again.
    experimental: { fsModuleCache: true, fsModuleCachePath: path.join(path.dirname(plan.output), 'modules') },
  },
});
