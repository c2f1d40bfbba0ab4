/**
 * Runs tests against changed code, inside Vitest's worker. Stryker's instrumenter puts all changes into the code, each
 * behind a switch; this runner throws the switches. Without `entries` in the plan it notes which test reaches which change.
 * With them, each test file named in the plan stands for a mutant and a real test file.
 *
 * A test that fails with its mutant runs again without it. If it fails again, the mutant is only suspected: an earlier
 * one may have left something behind. A test that does not end, or waits in vain, may only have met a busy machine: it has
 * to fail a third time, again with the mutant, and its limit is then measured by the time that the second run took.
 */
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { TestRunner } from 'vitest';
import { readJson } from '../process.mjs';
import { slowdown } from './load.mjs';

/** @type {import('./worker.mjs').Plan} */
const plan = readJson(process.env.ATRIUM_MUTATION_PLAN ?? '');
/** The switches of Stryker's instrumenter. */
const stryker = /** @type {any} */ (globalThis).__stryker__ ?? {};
/** @type {any} */ (globalThis).__stryker__ = stryker;
/** On an idle machine, a test may take this much longer than without the mutant, and four times as long. */
const PATIENCE_MS = 3_000;
const PATIENCE_TIMES = 4;
/** Words of failures that a busy machine can cause. */
const TIME = /timed? ?out|not done after|in time\b/i;
/** A loop that a mutant makes endless ends here. */
const MOST_HITS = 1_000_000;
/** Mutants that a test has noticed. @type {Set<string>} */
const noticed = new Set();

/** @param {object} line */
const write = (line) => appendFileSync(plan.output, `${JSON.stringify(line)}\n`);

class CoverageRunner extends TestRunner {
  /** @override @param {import('vitest').RunnerTestFile} file */
  onCollectStart(file) {
    super.onCollectStart(file);
    stryker.currentTestId = undefined;
  }

  /** Hooks of a file count for each of its tests. @override @param {import('vitest').RunnerTestSuite} suite */
  async onBeforeRunSuite(suite) {
    await super.onBeforeRunSuite(suite);
    stryker.currentTestId = suite.file.filepath;
  }

  /** @override @param {import('vitest').RunnerTestCase} test */
  async onBeforeRunTask(test) {
    await super.onBeforeRunTask(test);
    stryker.currentTestId = `${test.file.filepath}#${test.fullTestName}`;
  }

  /** @override @param {import('vitest').RunnerTestCase} test */
  onAfterRunTask(test) {
    super.onAfterRunTask(test);
    stryker.currentTestId = test.file.filepath;
    const file = path.relative(plan.root, test.file.filepath);
    if (test.result?.state === 'fail') write({ file, isFailed: true });
    if (test.result?.state !== 'pass') return;
    write({
      file,
      test: test.fullTestName,
      ms: Math.round((test.result.duration ?? 0) / slowdown()),
      mutants: this.#take(`${test.file.filepath}#${test.fullTestName}`),
    });
  }

  /** @override @param {import('vitest').RunnerTestSuite} suite */
  async onAfterRunSuite(suite) {
    await super.onAfterRunSuite(suite);
    if (!('filepath' in suite)) return;
    const file = path.relative(plan.root, suite.file.filepath);
    write({ file, mutants: this.#take(suite.file.filepath) });
    stryker.currentTestId = undefined;
    if (stryker.mutantCoverage === undefined) return;
    write({ file, whileLoading: Object.keys(stryker.mutantCoverage.static) });
    stryker.mutantCoverage.static = {};
  }

  /** @param {string} id */
  #take(id) {
    const hits = stryker.mutantCoverage?.perTest[id] ?? {};
    delete stryker.mutantCoverage?.perTest[id];
    return Object.keys(hits);
  }
}

/** @typedef {{ ms: number, failed: 'time' | 'error' | undefined, error?: string | undefined }} Attempt */

class MutantRunner extends TestRunner {
  /** @type {import('./worker.mjs').Entry | undefined} */
  #entry;
  /** Of the test that runs: with the mutant, without it, with it. In a worker of its own, all with it. @type {Attempt[]} */
  #attempts = [];

  /** @override @param {string} file @param {'collect' | 'setup'} source */
  importFile(file, source) {
    const entry = plan.entries?.[path.basename(file, '.test.ts')];
    if (entry === undefined) return super.importFile(file, source);
    this.#entry = entry;
    if (noticed.has(entry.mutant)) return undefined;
    write({ start: entry.mutant, file: entry.file });
    const real = path.join(plan.root, entry.file);
    const modules = /** @type {any} */ (this).workerState.evaluatedModules;
    const loaded = modules.getModuleById(real);
    if (loaded) modules.invalidateModule(loaded);
    this.#turn(true);
    return super.importFile(real, source);
  }

  /** Only the tests that reach the mutant. @param {import('vitest').RunnerTestFile[]} files */
  onCollected(files) {
    for (const file of files) this.#select(file);
  }

  /** @param {import('vitest').RunnerTestSuite} suite @returns {boolean} whether a test is left */
  #select(suite) {
    let any = false;
    for (const task of suite.tasks) {
      const isWanted =
        task.type === 'suite'
          ? this.#select(task)
          : this.#entry?.tests[task.fullTestName] !== undefined && task.mode !== 'skip' && task.mode !== 'todo';
      if (!isWanted) task.mode = 'skip';
      any ||= isWanted;
    }
    return any;
  }

  /** @override @param {import('vitest').RunnerTestCase} test */
  async onBeforeRunTask(test) {
    if (this.#entry !== undefined && noticed.has(this.#entry.mutant)) test.mode = 'skip';
    await super.onBeforeRunTask(test);
  }

  /** @param {import('vitest').RunnerTestCase} test @param {{ retry: number }} attempt */
  // @ts-expect-error Vitest passes the attempt, its type does not say so.
  onBeforeTryTask(test, { retry }) {
    if (retry === 0) this.#attempts = [];
    this.#attempts.push({ ms: 0, failed: undefined });
    this.#turn(!this.#isControl(retry));
    super.onBeforeTryTask(test);
  }

  /** @param {import('vitest').RunnerTestCase} test */
  async runTask(test) {
    const attempt = /** @type {Attempt} */ (this.#attempts.at(-1));
    const [, control] = this.#attempts;
    // Without the mutant the test failed, too: a third run tells nothing.
    if (plan.control && this.#attempts.length === 3 && control?.failed !== undefined) return;
    const limit = this.#limit(test);
    const started = performance.now();
    let timer;
    const tooLong = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`not done after ${Math.round(limit)} ms`)), limit);
    });
    try {
      await Promise.race([TestRunner.getTestFn(test)(), tooLong]);
    } finally {
      clearTimeout(timer);
      attempt.ms = performance.now() - started;
    }
  }

  /** Milliseconds. @param {import('vitest').RunnerTestCase} test */
  #limit(test) {
    const [, control] = this.#attempts;
    const isMeasured = plan.control === true && this.#attempts.length === 3 && control !== undefined;
    const ms = isMeasured ? control.ms : (this.#entry?.tests[test.fullTestName] ?? 0) * slowdown();
    const patience = PATIENCE_MS * slowdown() + PATIENCE_TIMES * ms;
    return this.#isControl(this.#attempts.length - 1) ? PATIENCE_TIMES * patience : patience;
  }

  /** @param {import('vitest').RunnerTestCase} test */
  onAfterRetryTask(test) {
    const attempt = /** @type {Attempt} */ (this.#attempts.at(-1));
    const { result } = test;
    if (result === undefined || result.state !== 'fail') {
      // Vitest runs a test again only after a failure.
      if (plan.control && result && this.#attempts.length === 2 && this.#attempts[0]?.failed === 'time')
        result.state = 'fail';
      return;
    }
    const { message = '', cause } = /** @type {{ message?: string, cause?: { message?: string } }} */ (
      result.errors?.at(-1) ?? {}
    );
    attempt.failed = TIME.test(`${message} ${cause?.message ?? ''}`) ? 'time' : 'error';
    attempt.error = message;
  }

  /** @override @param {import('vitest').RunnerTestCase} test */
  onAfterRunTask(test) {
    super.onAfterRunTask(test);
    const [first, second, third] = this.#attempts;
    if (first?.failed === undefined) return;
    const last = plan.control ? third : second;
    if ((!plan.control || (first.failed === 'time' && second?.failed === undefined)) && last?.failed === undefined)
      return;
    this.#notice({
      test: test.fullTestName,
      isSure: plan.control !== true || second?.failed === undefined,
      isTime: (last ?? first).failed === 'time',
      error: first.error,
    });
  }

  /** @override @param {import('vitest').RunnerTestSuite} suite */
  async onAfterRunSuite(suite) {
    await super.onAfterRunSuite(suite);
    if ((suite.result?.errors?.length ?? 0) > 0) this.#notice({ isSure: plan.control !== true });
  }

  /** @override */
  onAfterRunFiles() {
    super.onAfterRunFiles();
    const { mutant, file } = this.#entry ?? {};
    this.#turn(plan.control !== true);
    write({ end: mutant, file });
  }

  /** @param {number} retry */
  #isControl(retry) {
    return plan.control === true && retry === 1;
  }

  /** @param {{ test?: string, isSure: boolean, isTime?: boolean, error?: string | undefined }} how */
  #notice(how) {
    const { mutant, file } = this.#entry ?? { mutant: '', file: '' };
    if (noticed.has(mutant)) return;
    noticed.add(mutant);
    write({ noticed: mutant, file, ...how });
  }

  /** @param {boolean} on */
  #turn(on) {
    stryker.activeMutant = on ? this.#entry?.mutant : undefined;
    stryker.hitCount = 0;
    stryker.hitLimit = MOST_HITS;
  }
}

export default plan.entries === undefined ? CoverageRunner : MutantRunner;
