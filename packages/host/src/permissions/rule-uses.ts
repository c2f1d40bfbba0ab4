/**
 * When each rule last decided a call: a small file of the host, written a moment after the use. Losing it costs
 * nothing.
 */
import { readFileSync } from 'node:fs';
import { type Rule, ruleText } from '@atrium/core/permissions/rules.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import { writePrivateFile } from '@atrium/core/util/secrets.js';
import { isRecord } from '@atrium/core/util/shape.js';

/** How many rules' uses are remembered; those that were used longest ago are forgotten. */
export const USES_MAX = 2_000;
const WRITE_AFTER_MS = 2_000;

export class RuleUses {
  readonly #uses = new Map<string, number>();
  #isWaiting = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly options: { readonly file: string | undefined; readonly clock: Clock; readonly logger: Logger },
  ) {
    for (const [key, time] of Object.entries(storedIn(options.file)))
      if (typeof time === 'number') this.#uses.set(key, time);
  }

  /** `place`: the folder or session of the rule; empty for rules of the host and the person. */
  used(rule: Rule, place: string): void {
    const key = keyOf(rule, place);
    this.#uses.delete(key);
    this.#uses.set(key, this.options.clock.now());
    for (const oldest of this.#uses.keys()) {
      if (this.#uses.size <= USES_MAX) break;
      this.#uses.delete(oldest);
    }
    if (this.#isWaiting || this.options.file === undefined) return;
    this.#isWaiting = true;
    this.options.clock.after(WRITE_AFTER_MS, () => void this.store());
  }

  lastUse(rule: Rule, place: string): number | undefined {
    return this.#uses.get(keyOf(rule, place));
  }

  store(): Promise<void> {
    const { file, logger } = this.options;
    if (!this.#isWaiting || file === undefined) return this.#writing;
    this.#isWaiting = false;
    this.#writing = this.#writing
      .then(() => writePrivateFile(file, `${JSON.stringify(Object.fromEntries(this.#uses))}\n`))
      .catch((error) => logger.log('warn', 'the last uses of rules could not be stored', { error: String(error) }));
    return this.#writing;
  }
}

function keyOf(rule: Rule, place: string): string {
  return JSON.stringify([rule.scope, rule.effect, ruleText(rule), place]);
}

function storedIn(file: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = file === undefined ? {} : JSON.parse(readFileSync(file, 'utf8'));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
